/** Admission and claims, as the gateway drives them. */
import { GLOBAL_KILL_SWITCH, keysOf } from '../../schemas/keys.ts';
import type { AcceptedRequest } from '../../schemas/verify/request.ts';
import type { TaskEvent } from '../../schemas/verify/task.ts';
import type { StoreConnection } from './connect.ts';
import type { Admission, AdmissionOutcome, ClaimView } from './port.ts';
import { recordText } from './records/read.ts';
import { ADMIT, CONFIRM, RELEASE, VIEW_CLAIM } from './scripts/admission.ts';
import { runScript, unexpectedReply } from './scripts/script.ts';
import { fixedText, said } from './snapshot.ts';

export async function viewClaim(
  connection: StoreConnection,
  tenant: string,
  pair: string,
  digest: AcceptedRequest['requestDigest'],
): Promise<ClaimView> {
  const keys = keysOf(tenant);
  const claim = keys.claim(pair, digest);
  const words = await runScript(
    connection,
    VIEW_CLAIM,
    { claim, sequence: keys.requestSequence(pair), pairTasks: keys.pairTasks(pair) },
    {},
  );
  const [nextN, nextSequence, now] = words.map(Number);
  if (nextN === undefined || nextSequence === undefined || now === undefined) return unexpectedReply(words);
  return { nextN, nextSequence, now };
}

/** `state` of a join by messageId is empty when the claim no longer waits; the caller reads the task then. */
export async function admit(connection: StoreConnection, admission: Admission): Promise<AdmissionOutcome> {
  const { accepted, snapshot, message, n } = admission;
  const { tenant, pair } = accepted.request;
  const keys = keysOf(tenant);
  const first: TaskEvent = {
    type: 'status',
    state: 'submitted',
    phase: snapshot.phase,
    detail: snapshot.detail,
    outcome: null,
  };
  const words = await runScript(
    connection,
    ADMIT,
    {
      message: keys.message(message.hash),
      killAll: GLOBAL_KILL_SWITCH,
      killTenant: keys.killSwitch,
      claim: keys.claim(pair, accepted.requestDigest),
      sequence: keys.requestSequence(pair),
      request: keys.request(accepted.taskId),
      task: keys.task(accepted.taskId),
      events: keys.taskEvents(accepted.taskId),
      offsets: keys.taskOffsets(accepted.taskId),
      pairTasks: keys.pairTasks(pair),
      waiting: keys.acceptedClaims,
    },
    {
      ...said({ source: 'admission', offset: 0 }, first),
      bodyDigest: message.bodyDigest,
      taskId: accepted.taskId,
      workflowId: accepted.workflowId,
      n,
      requestSequence: accepted.sequence,
      createdAt: snapshot.createdAt,
      requestText: recordText(accepted),
      snapshotText: fixedText(snapshot),
    },
  );
  const [kind, second, third] = words;
  switch (kind) {
    case 'accepted':
      return { kind, taskId: accepted.taskId };
    case 'joined':
      return { kind, taskId: second ?? '', state: third ?? '' };
    case 'moved':
    case 'message_conflict':
      return { kind };
    case 'kill_switch':
      return { kind, reason: second ?? '' };
    default:
      return unexpectedReply(words);
  }
}

export async function confirmStarted(connection: StoreConnection, accepted: AcceptedRequest): Promise<void> {
  const { tenant, pair } = accepted.request;
  const keys = keysOf(tenant);
  await runScript(
    connection,
    CONFIRM,
    { claim: keys.claim(pair, accepted.requestDigest), waiting: keys.acceptedClaims },
    { taskId: accepted.taskId },
  );
}

export async function releaseClaim(
  connection: StoreConnection,
  accepted: AcceptedRequest,
  messageHash: string,
): Promise<void> {
  const { tenant, pair } = accepted.request;
  const keys = keysOf(tenant);
  const { taskId } = accepted;
  const event: TaskEvent = {
    type: 'status',
    state: 'failed',
    phase: 'ended',
    detail: 'It could not be started, so nothing ran.',
    outcome: 'failed_to_start',
  };
  await runScript(
    connection,
    RELEASE,
    {
      claim: keys.claim(pair, accepted.requestDigest),
      message: keys.message(messageHash),
      waiting: keys.acceptedClaims,
      task: keys.task(taskId),
      events: keys.taskEvents(taskId),
      offsets: keys.taskOffsets(taskId),
    },
    { ...said({ source: 'admission', offset: 1 }, event), taskId },
  );
}
