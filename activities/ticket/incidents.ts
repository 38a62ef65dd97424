/**
 * Incidents of a landing: authority changed between what permitted it and what was read back (spec/gate.md section 5), or nobody
 * ever read it back.
 */
import type { AuditEvent } from '../../schemas/audit.ts';
import type { IncidentRuled, LandingIncident } from '../../schemas/ticket/activities.ts';
import type { IncidentRecord } from '../../schemas/workspace/lifecycle.ts';
import { auditWriter } from '../audit/write.ts';
import type { SigningKey } from '../signing/keys.ts';
import type { LifecycleStore } from '../store/lifecycle-port.ts';
import type { ControlStore } from '../store/port.ts';

export interface IncidentDependencies {
  readonly lifecycle: Pick<LifecycleStore, 'readIncident' | 'writeIncident'>;
  readonly store: Pick<ControlStore, 'appendAuditOnce'>;
  readonly actionKey: SigningKey;
}

const REASONS: Readonly<Record<LandingIncident['cause'], (candidate: string) => string>> = {
  authority: (candidate) =>
    `authority changed while ${candidate} was landed, or no longer permits it: it is on the branch`,
  unanswered: (candidate) =>
    `the ticket was given up before anybody could read whether ${candidate} has landed: look at the branch`,
};

/** One for each candidate, whoever asks how often. @throws `store_unavailable` */
export async function openLandingIncident(needs: IncidentDependencies, of: LandingIncident): Promise<string> {
  const { tenant, ticket, run, candidate, cause, at } = of;
  const id = `landing-${candidate.slice(0, 20)}`;
  if ((await needs.lifecycle.readIncident(tenant, id)) !== null) return id;
  const record: IncidentRecord = {
    schema: 'portcullis/incident/v1',
    kind: 'landing',
    id,
    run,
    ticket,
    role: null,
    coderWorkspaceId: null,
    state: 'open',
    attempts: 0,
    reason: REASONS[cause](candidate),
    openedAt: at,
    closedAt: null,
    ruling: null,
  };
  // First on record, and once, so that a retry that finds the incident has its entry too, and one that does not adds none.
  await audit(needs, tenant, 'incident_opened', { kind: 'landing', incident: id, ticket, candidate });
  await needs.lifecycle.writeIncident(tenant, record);
  return id;
}

/** @throws `store_unavailable` */
export async function closeLandingIncident(
  needs: IncidentDependencies,
  { tenant, incident: id, ruling, at }: IncidentRuled,
): Promise<void> {
  const incident = await needs.lifecycle.readIncident(tenant, id);
  if (incident === null || incident.closedAt !== null) return;
  const { ruling: word, by } = ruling;
  await audit(needs, tenant, 'incident_ruled', {
    kind: 'landing',
    incident: id,
    ticket: incident.ticket,
    ruling: word,
    by,
  });
  await needs.lifecycle.writeIncident(tenant, { ...incident, state: 'closed', closedAt: at, ruling });
}

async function audit(
  { store, actionKey }: IncidentDependencies,
  tenant: string,
  event: AuditEvent,
  refs: Readonly<Record<string, string>>,
): Promise<void> {
  await store.appendAuditOnce(tenant, auditWriter(tenant, actionKey, event, refs));
}
