# Default deny both ways, then the gateway, Coder and names. Temporal, the store and every model host stay out of reach.
resource "kubernetes_network_policy_v1" "workspace" {
  count = data.coder_workspace.me.start_count

  metadata {
    name      = "portcullis-${data.coder_workspace.me.id}"
    namespace = var.namespace
    labels    = local.labels
  }

  spec {
    policy_types = ["Ingress", "Egress"]

    pod_selector {
      match_labels = { "portcullis.dev/run" = local.labels["portcullis.dev/run"] }
    }

    egress {
      to {
        ip_block {
          cidr = var.gateway_cidr
        }
      }
      ports {
        port     = var.gateway_port
        protocol = "TCP"
      }
    }

    egress {
      to {
        ip_block {
          cidr = var.coder_cidr
        }
      }
      ports {
        port     = var.coder_port
        protocol = "TCP"
      }
    }

    egress {
      to {
        ip_block {
          cidr = var.dns_cidr
        }
      }
      ports {
        port     = 53
        protocol = "UDP"
      }
    }
  }
}
