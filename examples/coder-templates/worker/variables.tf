# Set when the template is pushed, once for each role: see ../push.sh.

variable "role" {
  description = "The role that this template serves."
  type        = string
  validation {
    condition     = contains(["forge", "sentinel", "verifier", "lore"], var.role)
    error_message = "One of forge, sentinel, verifier, lore."
  }
}

variable "namespace" {
  description = "Kubernetes namespace of the workspaces; nothing else belongs in it."
  type        = string
}

variable "image" {
  description = "Image with Node 24, git, python3, bubblewrap and the toolchains of your repositories. By digest, so that it cannot change under a verdict."
  type        = string
  validation {
    condition     = can(regex("@sha256:[0-9a-f]{64}$", var.image))
    error_message = "Name the image by digest: registry/name@sha256:…"
  }
}

variable "relay_image" {
  description = "Image with socat, for the sidecar that is the workspace's way to the gateway. By digest."
  type        = string
  validation {
    condition     = can(regex("@sha256:[0-9a-f]{64}$", var.relay_image))
    error_message = "Name the image by digest: registry/name@sha256:…"
  }
}

variable "package_path" {
  description = "Path at the gateway's host of the packed tree that ../pack.sh makes, such as /packages/portcullis-workspace.tgz."
  type        = string
}

variable "package_sha256" {
  description = "SHA-256 of that file, 64 hex digits: another file is not installed."
  type        = string
  validation {
    condition     = can(regex("^[0-9a-f]{64}$", var.package_sha256))
    error_message = "64 hex digits."
  }
}

variable "gateway_host" {
  description = "Host name of the gateway."
  type        = string
}

variable "gateway_port" {
  description = "TLS port of the gateway."
  type        = number
  default     = 443
}

variable "gateway_cidr" {
  description = "Addresses of the gateway: the only ones that a workspace reaches beside Coder's."
  type        = string
}

variable "coder_cidr" {
  description = "Addresses of the Coder server, for its agent."
  type        = string
}

variable "coder_port" {
  description = "Port of the Coder server."
  type        = number
  default     = 443
}

variable "dns_cidr" {
  description = "Address of the cluster's name server."
  type        = string
}

variable "cpu" {
  description = "Limit of the workspace, in cores."
  type        = string
  default     = "2"
}

variable "memory" {
  description = "Limit of the workspace."
  type        = string
  default     = "4Gi"
}

variable "disk" {
  description = "Limit of what the workspace writes."
  type        = string
  default     = "10Gi"
}
