/**
 * The rich parameters of every worker template: what a workspace is told at its start. The server ignores names that a template
 * does not have, so they are compared first. No bearer and no key is among them: a claim code is used up once and is worth
 * nothing after (DESIGN section 2, Credentials).
 */
import { RUN_PARAMETER } from '../coder/workspace.ts';

export const TEMPLATE_PARAMETERS = {
  /** Id of the owning workflow (`workspace/…`). */
  run: RUN_PARAMETER,
  tenant: 'portcullis_tenant',
  ticket: 'portcullis_ticket',
  role: 'portcullis_role',
  /** Workspace generation, decimal. */
  generation: 'portcullis_generation',
  /** Commit that is checked out. */
  head: 'portcullis_head',
  /** Branch that the role's agent may push; empty for a role that only reads. */
  branch: 'portcullis_branch',
  /** Single-use code that the executor exchanges; empty for a role without one. */
  executorClaim: 'portcullis_executor_claim',
  /** Single-use code that the agent's harness exchanges; empty for a role without an agent. */
  agentClaim: 'portcullis_agent_claim',
} as const;

export type TemplateParameterName = (typeof TEMPLATE_PARAMETERS)[keyof typeof TEMPLATE_PARAMETERS];
