data "coder_workspace" "me" {}

locals {
  # The roles whose workspace runs an executor; a verifier's has nothing else in it.
  has_executor = contains(["forge", "verifier"], var.role)
  has_agent    = var.role != "verifier"

  # What the sweep of left-over compute looks for: labels hold no slash, so the run goes in as an annotation too.
  labels = {
    "app.kubernetes.io/managed-by" = "portcullis"
    "portcullis.dev/role"          = var.role
    "portcullis.dev/run"           = substr(sha256(data.coder_parameter.run.value), 0, 40)
  }
}

resource "coder_agent" "main" {
  os   = "linux"
  arch = "amd64"
  dir  = "/workspace/checkout"

  # The agent becomes ready when this ends, and `start_error` when it fails: the control plane waits for that.
  startup_script_behavior = "blocking"
  startup_script = templatefile("${path.module}/start.sh.tftpl", {
    tenant         = data.coder_parameter.tenant.value
    ticket         = data.coder_parameter.ticket.value
    role           = data.coder_parameter.role.value
    head           = data.coder_parameter.head.value
    branch         = data.coder_parameter.branch.value
    executor_claim = data.coder_parameter.executor_claim.value
    agent_claim    = data.coder_parameter.agent_claim.value
    package_path   = var.package_path
    package_sha256 = var.package_sha256
    has_executor   = local.has_executor
    has_agent      = local.has_agent
  })
  connection_timeout = 120

  # What an agent's tools run with: git by the harness's configuration alone, and its commands on the path.
  env = local.has_agent ? {
    GIT_CONFIG_NOSYSTEM = "1"
    GIT_CONFIG_GLOBAL   = "/workspace/.portcullis/agent/gitconfig"
    GIT_TERMINAL_PROMPT = "0"
    PATH                = "/workspace/.portcullis/agent/bin:/usr/local/bin:/usr/bin:/bin"
  } : {}

  # Nobody works in these by hand, and each open window would count as activity.
  display_apps {
    vscode                 = false
    vscode_insiders        = false
    web_terminal           = false
    ssh_helper             = false
    port_forwarding_helper = false
  }

  lifecycle {
    precondition {
      condition     = data.coder_parameter.role.value == var.role
      error_message = "This template serves ${var.role}."
    }
  }
}

resource "kubernetes_pod_v1" "workspace" {
  count = data.coder_workspace.me.start_count

  metadata {
    name      = "portcullis-${data.coder_workspace.me.id}"
    namespace = var.namespace
    labels    = local.labels
    annotations = {
      "portcullis.dev/run" = data.coder_parameter.run.value
    }
  }

  spec {
    # A workspace that ended is replaced by another generation, never started again.
    restart_policy                   = "Never"
    automount_service_account_token  = false
    enable_service_links             = false
    termination_grace_period_seconds = 10

    security_context {
      run_as_user     = 61440
      run_as_group    = 61440
      fs_group        = 61440
      run_as_non_root = true
    }

    container {
      name    = "workspace"
      image   = var.image
      command = ["sh", "-c", coder_agent.main.init_script]

      env {
        name  = "CODER_AGENT_TOKEN"
        value = coder_agent.main.token
      }

      security_context {
        # The sandbox makes its own namespaces: the node must allow unprivileged user namespaces.
        allow_privilege_escalation = false
        capabilities {
          drop = ["ALL"]
        }
        seccomp_profile {
          type = "Unconfined"
        }
      }

      resources {
        requests = { cpu = "500m", memory = "1Gi" }
        limits   = { cpu = var.cpu, memory = var.memory, "ephemeral-storage" = var.disk }
      }

      volume_mount {
        name       = "gateway"
        mount_path = "/run/gateway"
      }
      volume_mount {
        name       = "workspace"
        mount_path = "/workspace"
      }
    }

    # One socket, one host: the workspace's way out, as on the local stack.
    container {
      name  = "relay"
      image = var.relay_image
      command = [
        "socat",
        "UNIX-LISTEN:/run/gateway/gateway.sock,fork,mode=660",
        "OPENSSL:${var.gateway_host}:${var.gateway_port},verify=1,snihost=${var.gateway_host}",
      ]

      security_context {
        allow_privilege_escalation = false
        read_only_root_filesystem  = true
        capabilities {
          drop = ["ALL"]
        }
      }

      resources {
        limits = { cpu = "200m", memory = "64Mi" }
      }

      volume_mount {
        name       = "gateway"
        mount_path = "/run/gateway"
      }
    }

    volume {
      name = "gateway"
      empty_dir {
        size_limit = "1Mi"
      }
    }
    volume {
      name = "workspace"
      empty_dir {
        size_limit = var.disk
      }
    }
  }
}
