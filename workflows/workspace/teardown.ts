/**
 * The teardown ladder (spec/workspaces.md section 4): refuse its credentials, quiet its chats, destroy and prove, free the slot, tell
 * the owner. Runs in a scope that no cancel reaches.
 */
import { proxyActivities, proxyLocalActivities, sleep } from '@temporalio/workflow';
import type { WorkspaceActivities, WorkspaceLocalActivities } from '../../schemas/workspace/activities.ts';
import type { RecoveryRecord } from '../../schemas/workspace/lifecycle.ts';
import type { WorkspaceEnded } from '../../schemas/workspace/workflow.ts';
import type { Attempt } from './delete.ts';
import { destroyOnce } from './destroy.ts';
import { codeOfFailure } from './failure.ts';
import { endedAs, tellOwner, type End, type Life } from './life.ts';
import { BOUNDED_CALL, STORE_RETRY } from './options.ts';
import { lastPush } from './last-push.ts';
import { endIncident, openIncident } from './quarantine.ts';
import { refOf, show, tell, type Said } from './session.ts';

const store = proxyLocalActivities<WorkspaceLocalActivities>(STORE_RETRY);
const { quietChats } = proxyActivities<WorkspaceActivities>(BOUNDED_CALL);

/** Milliseconds after each failed attempt; after the last of them the template's active version is tried, once. */
const BACKOFF_MS: readonly number[] = [10_000, 60_000, 300_000];
/** A turn that is interrupted ends within seconds; one that does not is left to the delete. */
const QUIET_TRIES = 6;
const QUIET_GAP_MS = 5_000;

/** `gone` once that is proved; `quarantined` when it cannot be, and the incident is then open. */
export async function tearDown(life: Life, end: End): Promise<WorkspaceEnded> {
  life.ending = true;
  await begin(life, end);
  if (!life.mayExist) return await finish(life, end, 'nothing was made', 'never_recorded');
  await lastPush(life, end);
  await refuseCredentials(life);
  await quiet(life);
  const attempt = await destroyPatiently(life);
  if (attempt.gone) return await finish(life, end, attempt.detail, 'gone');
  await openIncident(life, attempt);
  const ended = endedAs(life, end, 'quarantined');
  await tellOwner(life, 'ended', ended);
  return ended;
}

async function begin(life: Life, end: End): Promise<void> {
  const { phase } = life.record;
  const outcome = end.trigger === 'cancelled' ? 'cancelled' : life.offered ? 'done' : 'failed';
  const said: Said[] = [{ phase: 'teardown', outcome: 'begun', detail: `${end.trigger}: ${end.reason}` }];
  // A destroyer begins here: the phase in which its predecessor ended has had its say.
  if (phase !== 'teardown') said.unshift({ phase, outcome, detail: end.reason });
  await tell(life, { state: 'ending', trigger: end.trigger }, ...said);
}

/** Before anything else: from here on nothing in it can act, however long the rest takes. */
async function refuseCredentials(life: Life): Promise<void> {
  show(life, 'store', 'refusing its credentials');
  await store.refuseWorkspaceCredentials(refOf(life.record), life.record.credentials);
}

async function quiet(life: Life): Promise<void> {
  for (let tried = 0; tried < QUIET_TRIES; tried += 1) {
    show(life, 'chat', 'interrupting and archiving its chats');
    try {
      const { active } = await quietChats(life.record.run);
      if (active === 0) return;
    } catch (thrown) {
      // The delete ends a chat's tools with the workspace; a chat that stays cannot hold that up.
      await tell(life, {}, { phase: 'teardown', outcome: 'retrying', detail: `chats: ${codeOfFailure(thrown)}` });
      return;
    }
    await sleep(QUIET_GAP_MS);
  }
}

async function destroyPatiently(life: Life): Promise<Attempt> {
  for (const [index, pause] of BACKOFF_MS.entries()) {
    const attempt = await destroyOnce(life, false);
    if (attempt.gone) return await closed(life, attempt);
    await recordFailure(life, attempt, index + 1);
    show(life, 'backoff', `${attempt.detail}; tried again in ${pause / 1000} s`);
    await sleep(pause);
  }
  // The last build's version may be what cannot be destroyed any more.
  const last = await destroyOnce(life, true);
  if (last.gone) return await closed(life, last);
  await recordFailure(life, last, BACKOFF_MS.length + 1);
  return last;
}

async function closed(life: Life, attempt: Attempt): Promise<Attempt> {
  await store.closeRecovery(life.record.tenant, life.record.run);
  return attempt;
}

async function recordFailure(life: Life, attempt: Extract<Attempt, { gone: false }>, attempts: number): Promise<void> {
  const { tenant, run, ticket, id, role } = life.record;
  const recovery: RecoveryRecord = {
    schema: 'portcullis/recovery/v1',
    run,
    kind: 'teardown_failed',
    ticket,
    workspace: id,
    attempts,
    reason: attempt.reason,
    openedAt: Date.now(),
  };
  await store.openRecovery(tenant, recovery);
  await store.tellSlots(tenant, role, { kind: 'suspended', holder: run });
  await tell(life, {}, { phase: 'teardown', outcome: 'retrying', detail: attempt.detail });
}

async function finish(
  life: Life,
  end: End,
  detail: string,
  because: 'gone' | 'never_recorded',
): Promise<WorkspaceEnded> {
  const { tenant, role, run } = life.record;
  await tell(
    life,
    { state: 'gone', endedAt: Date.now(), waitingOn: 'nothing' },
    { phase: 'teardown', outcome: 'done', detail },
  );
  // Opened by a predecessor, and nobody else would close it. Before the slots hear: whoever ends in between is found by them.
  if (life.incident !== null) await endIncident(life, { ...life.incident, state: 'gone' });
  if (life.slot !== 'none') await store.tellSlots(tenant, role, { kind: 'release', holder: run, because });
  const ended = endedAs(life, end, 'gone');
  await tellOwner(life, 'ended', ended);
  show(life, 'nothing', `gone: ${detail}`);
  return ended;
}
