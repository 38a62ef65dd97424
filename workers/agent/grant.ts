/** The agent's credential. */
import { z } from 'zod';
import { claimGrantSchema, obtainClaimGrant, type ClaimSettings } from '../claim-grant.ts';

const agentGrant = claimGrantSchema.extend({ executor: z.null() });

export type AgentGrant = z.infer<typeof agentGrant>;

/** @throws `claim_code_invalid` or `not_allowed` when there is no credential to be had, `gateway_unavailable` */
export function obtainAgentGrant(settings: ClaimSettings): Promise<AgentGrant> {
  return obtainClaimGrant(settings, agentGrant, 'act as an agent');
}
