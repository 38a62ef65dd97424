# What the control plane tells a workspace at its start (schemas/workspace/parameters.ts). `portcullis doctor` compares the names.

data "coder_parameter" "run" {
  name        = "portcullis_run"
  description = "Id of the owning workflow."
  type        = "string"
  mutable     = false
  validation {
    regex = "^workspace/[A-Za-z0-9._-]+/[A-Za-z0-9._-]+/[a-z]+/[1-9][0-9]*$"
    error = "The id of a workspace workflow."
  }
}

data "coder_parameter" "tenant" {
  name        = "portcullis_tenant"
  description = "Tenant."
  type        = "string"
  mutable     = false
}

data "coder_parameter" "ticket" {
  name        = "portcullis_ticket"
  description = "Ticket."
  type        = "string"
  mutable     = false
}

data "coder_parameter" "role" {
  name        = "portcullis_role"
  description = "Role; must be the template's."
  type        = "string"
  mutable     = false
}

data "coder_parameter" "generation" {
  name        = "portcullis_generation"
  description = "Workspace generation."
  type        = "string"
  mutable     = false
  validation {
    regex = "^[1-9][0-9]{0,8}$"
    error = "A positive whole number."
  }
}

data "coder_parameter" "head" {
  name        = "portcullis_head"
  description = "Commit that is checked out."
  type        = "string"
  mutable     = false
  validation {
    regex = "^([0-9a-f]{40}|[0-9a-f]{64})$"
    error = "A commit."
  }
}

data "coder_parameter" "branch" {
  name        = "portcullis_branch"
  description = "Branch that the agent may push; empty for a role that only reads."
  type        = "string"
  mutable     = false
  default     = ""
}

data "coder_parameter" "executor_claim" {
  name        = "portcullis_executor_claim"
  description = "Single-use code of the executor; empty for a role without one."
  type        = "string"
  mutable     = false
  default     = ""
}

data "coder_parameter" "agent_claim" {
  name        = "portcullis_agent_claim"
  description = "Single-use code of the agent's harness; empty for a role without one."
  type        = "string"
  mutable     = false
  default     = ""
}
