/**
 * A workspace that cannot be destroyed: out of its slot, an open incident, tried again for as long as it exists, until it is gone or
 * an operator ruled (invariant 11).
 */
import { condition, proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { WorkspaceActivities, WorkspaceLocalActivities } from '../../schemas/workspace/activities.ts';
import type { IncidentRecord, WorkspaceRecord } from '../../schemas/workspace/lifecycle.ts';
import type { IncidentRuling } from '../../schemas/workspace/workflow.ts';
import type { Attempt } from './delete.ts';
import { destroyOnce } from './destroy.ts';
import { codeOfFailure } from './failure.ts';
import type { Life } from './life.ts';
import { CODER_CALL, STORE_RETRY } from './options.ts';
import { refOf, show, tell } from './session.ts';

const store = proxyLocalActivities<WorkspaceLocalActivities>(STORE_RETRY);
const { orphanWorkspace } = proxyActivities<WorkspaceActivities>({
  ...CODER_CALL,
  retry: { ...CODER_CALL.retry, maximumAttempts: 3 },
});

const FIRST_RETRY_MS = 5 * 60_000;
const LAST_RETRY_MS = 60 * 60_000;
/** So many attempts failed before there was an incident. */
const LADDER_ATTEMPTS = 4;
/** The history grows with each attempt; the run then goes on in a new one. */
const ATTEMPTS_A_RUN = 100;

/** Opens one, or goes on with the one that was: a ruling that it is over stays on record, and is contradicted by what exists. */
export async function openIncident(life: Life, attempt: Extract<Attempt, { gone: false }>): Promise<void> {
  const { tenant, run, role } = life.record;
  const before = life.incident ?? newIncident(life.record);
  const attempts = before.attempts + LADDER_ATTEMPTS;
  const incident = { ...before, state: 'open' as const, closedAt: null, attempts, reason: attempt.reason };
  life.incident = incident;
  await store.writeIncident(tenant, incident);
  await tell(life, { state: 'quarantined' }, { phase: 'teardown', outcome: 'quarantined', detail: attempt.detail });
  await store.tellSlots(tenant, role, { kind: 'quarantine', holder: run });
}

function newIncident({ run, role, ticket, id, coderWorkspaceId }: WorkspaceRecord): IncidentRecord {
  return {
    schema: 'portcullis/incident/v1',
    id,
    run,
    ticket,
    role,
    coderWorkspaceId,
    state: 'open',
    attempts: 0,
    reason: '',
    openedAt: Date.now(),
    closedAt: null,
    ruling: null,
  };
}

/** True when it is over; false when the run should go on in a new one. */
export async function quarantine(life: Life): Promise<boolean> {
  for (let tried = 0; tried < ATTEMPTS_A_RUN && !workflowInfo().continueAsNewSuggested; tried += 1) {
    const { incident } = life;
    if (incident === null) return true;
    const pause = Math.min(FIRST_RETRY_MS * 2 ** Math.min(incident.attempts - LADDER_ATTEMPTS, 10), LAST_RETRY_MS);
    show(life, 'operator', `it cannot be destroyed (${incident.reason}); tried again in ${pause / 60_000} min`);
    await condition(() => life.ruling !== null, pause);
    const { ruling } = life;
    if (ruling === null) {
      await retry(life, incident);
      continue;
    }
    // Kept until it is obeyed: a second one that came meanwhile would be taken and lost.
    await obey(life, incident, ruling);
    life.ruling = null;
  }
  return life.incident === null;
}

async function retry(life: Life, incident: IncidentRecord): Promise<void> {
  const attempt = await destroyOnce(life, incident.attempts % 2 === 1);
  const attempts = incident.attempts + 1;
  if (attempt.gone) {
    await close(life, { ...incident, attempts, state: 'gone' }, attempt.detail);
    return;
  }
  const again = { ...incident, attempts, reason: attempt.reason };
  life.incident = again;
  await store.writeIncident(life.record.tenant, again);
  await tell(life, {}, { phase: 'teardown', outcome: 'retrying', detail: attempt.detail });
}

async function obey(life: Life, incident: IncidentRecord, ruling: IncidentRuling): Promise<void> {
  const ruled: IncidentRecord = { ...incident, ruling };
  life.incident = ruled;
  await tell(
    life,
    {},
    { phase: 'teardown', outcome: 'ruled', detail: `${ruling.ruling} by ${ruling.by}: ${ruling.reason}` },
  );
  switch (ruling.ruling) {
    case 'retry': {
      await retry(life, ruled);
      return;
    }
    case 'orphan': {
      await orphan(life, ruled, ruling);
      return;
    }
    case 'close': {
      await close(life, { ...ruled, state: 'closed' }, `closed by ${ruling.by}`);
      return;
    }
  }
}

/** Coder forgets it and destroys nothing: the attempt after it proves what is left to prove, and sweeps. */
async function orphan(life: Life, incident: IncidentRecord, { by }: IncidentRuling): Promise<void> {
  const { coderWorkspaceId } = life.record;
  try {
    if (coderWorkspaceId !== null) await orphanWorkspace(refOf(life.record), coderWorkspaceId, by);
  } catch (thrown) {
    const reason = codeOfFailure(thrown);
    life.incident = { ...incident, reason };
    await store.writeIncident(life.record.tenant, life.incident);
    await tell(life, {}, { phase: 'teardown', outcome: 'retrying', detail: `the orphaning failed: ${reason}` });
    return;
  }
  const attempt = await destroyOnce(life, false);
  if (attempt.gone) {
    await close(life, { ...incident, state: 'orphaned' }, `orphaned by ${by}; ${attempt.detail}`);
    return;
  }
  life.incident = { ...incident, reason: attempt.reason };
  await store.writeIncident(life.record.tenant, life.incident);
}

async function close(life: Life, incident: IncidentRecord, detail: string): Promise<void> {
  const { tenant, role, run } = life.record;
  const now = Date.now();
  await endIncident(life, incident);
  const isGone = incident.state !== 'closed';
  await tell(
    life,
    // Only what was proved is called gone; what an operator closed stays what it was.
    isGone ? { state: 'gone', endedAt: now, waitingOn: 'nothing' } : { endedAt: now, waitingOn: 'nothing' },
    { phase: 'teardown', outcome: 'done', detail },
  );
  await store.closeRecovery(tenant, run);
  await store.tellSlots(tenant, role, { kind: 'resolved', holder: run });
  show(life, 'nothing', detail);
}

/** From here on no ruling is taken; one that was, while it went by itself, is kept with it. */
export async function endIncident(life: Life, incident: IncidentRecord): Promise<void> {
  life.incident = null;
  const ruling = incident.ruling ?? life.ruling;
  await store.writeIncident(life.record.tenant, { ...incident, ruling, closedAt: Date.now() });
}
