/** Ends what a pair may do: revokes its credentials; turns the kill switch; cancels what runs. */
import type { KillSwitchWrite, RevocationRequest } from '../../schemas/pair-activities.ts';
import { auditWriter } from '../audit/write.ts';
import type { PairDependencies } from './dependencies.ts';

/** Revokes every credential that was ever written for the pair. */
export async function revokePair(needs: PairDependencies, request: RevocationRequest): Promise<readonly string[]> {
  const { tenant, pair, by } = request;
  const ids = await needs.store.pairCredentials(tenant, pair);
  for (const id of ids) await needs.store.revokeCredential(tenant, id);
  if (ids.length > 0) {
    const refs = { pair, by, count: String(ids.length) };
    await needs.store.appendAudit(tenant, auditWriter(tenant, needs.actionKey, 'credential_revoked', refs));
  }
  return ids;
}

export async function writeKillSwitch(
  needs: PairDependencies,
  { scope, tenant, value }: KillSwitchWrite,
): Promise<void> {
  await needs.store.writeKillSwitch(scope, value);
  const event = value.on ? 'kill_switch_on' : 'kill_switch_off';
  await needs.store.appendAudit(
    tenant,
    auditWriter(tenant, needs.actionKey, event, { scope: scope ?? 'installation', by: value.by }),
  );
}

export async function cancelRunning(needs: PairDependencies, tenant: string): Promise<number> {
  let told = 0;
  for await (const workflowId of needs.listRunning(tenant)) {
    await needs.cancelWorkflow(workflowId);
    told += 1;
  }
  return told;
}
