/** Stored records of pairs, credentials and switches. */
import { z } from 'zod';
import { CREDENTIAL_USES, type ClaimCodeRecord, type CredentialRecord } from '../../../schemas/credential.ts';
import type { KillSwitch, PairHead, PairRoles } from '../../../schemas/pair.ts';
import { count, executorRole, role } from './fields.ts';

const seatedWorkspace = z.strictObject({ name: z.string(), generation: count }).exactOptional();

export const pairRolesRecord: z.ZodType<PairRoles> = z.strictObject({
  schema: z.literal('portcullis/pair-roles/v1'),
  pair: z.string(),
  roles: z.array(role),
  routing: z.strictObject({ default: executorRole, permitted: z.array(executorRole) }),
  workspaces: z.strictObject({ forge: seatedWorkspace, verifier: seatedWorkspace }),
  baseBranch: z.string(),
});

export const pairHeadRecord: z.ZodType<PairHead> = z.strictObject({
  schema: z.literal('portcullis/pair-head/v1'),
  pair: z.string(),
  headSha: z.string(),
  baseSha: z.string().nullable(),
  execution: z.string(),
  generation: count,
});

export const killSwitchRecord: z.ZodType<KillSwitch> = z.strictObject({
  schema: z.literal('portcullis/kill-switch/v1'),
  on: z.boolean(),
  reason: z.string(),
  by: z.string(),
  at: count,
});

export const credentialRecord: z.ZodType<CredentialRecord> = z.strictObject({
  schema: z.literal('portcullis/credential/v1'),
  id: z.string(),
  tenant: z.string(),
  pair: z.string(),
  role,
  use: z.enum(CREDENTIAL_USES),
  workspace: z.string(),
  workspaceGeneration: count,
  execution: z.string(),
  expiresAt: count,
  state: z.enum(['active', 'revoked']),
});

export const claimCodeRecord: z.ZodType<ClaimCodeRecord> = z.strictObject({
  schema: z.literal('portcullis/claim-code/v1'),
  credentialId: z.string(),
  expiresAt: count,
  usedAt: count.nullable(),
});
