/** The executor's credential, and who it makes the executor. */
import type { z } from 'zod';
import { parseVerifyingKey } from '../../activities/signing/keys.ts';
import type { ExecutorIdentity } from '../../activities/executor/admit.ts';
import { claimGrantSchema, obtainClaimGrant } from '../claim-grant.ts';
import type { ExecutorSettings } from './settings.ts';

const executorGrant = claimGrantSchema.extend({ executor: claimGrantSchema.shape.executor.unwrap() });

export type ExecutorGrant = z.infer<typeof executorGrant>;

/** @throws `claim_code_invalid` or `not_allowed` when there is no credential to be had, `gateway_unavailable` */
export function obtainGrant(settings: ExecutorSettings): Promise<ExecutorGrant> {
  return obtainClaimGrant(settings, executorGrant, 'serve as an executor');
}

/** Who the executor is, as its grant says it. @throws `setting_invalid` when the key in it is none. */
export function identityOf(grant: ExecutorGrant): ExecutorIdentity {
  const { tenant, pair, workspace, workspaceGeneration, executor } = grant;
  return {
    tenant,
    pair,
    workspace,
    workspaceGeneration,
    role: executor.role,
    actionKey: parseVerifyingKey(executor.actionKey.pem),
  };
}
