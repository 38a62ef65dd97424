/** Asking for builds and cancelling them: read, decide, ask, and read again where the answer leaves it open. */
import { type BuildState, hasEnded } from '../../schemas/coder/build.ts';
import type { BuildAsked, BuildRequest, CancelAsked, WorkspaceState } from '../../schemas/coder/workspace.ts';
import { portcullisError, PortcullisError } from '../../schemas/errors.ts';
import { type Answer, ask } from './answer.ts';
import { anyAnswer, buildAnswer } from './answers.schema.ts';
import type { CoderClient } from './client.ts';
import type { CallOptions } from './port.ts';
import { readBuild, readById, signalOf } from './reads.ts';
import { refusalError } from './refusal.ts';

export async function requestBuild(
  client: CoderClient,
  workspaceId: string,
  request: BuildRequest,
  call: CallOptions = {},
): Promise<BuildAsked> {
  const operation = `${request.transition} workspace`;
  const before = await standing(client, operation, workspaceId, request, call);
  if ('outcome' in before) return before;

  let refused: PortcullisError;
  try {
    const answer = await post(client, operation, workspaceId, request, call);
    if (answer.ok) return { outcome: 'started', build: answer.value };
    refused = refusalError(operation, answer.refusal);
    const { status } = answer.refusal;
    if (status !== 409 && status < 500) throw refused;
  } catch (thrown) {
    if (!(thrown instanceof PortcullisError)) throw thrown;
    if (thrown.code !== 'coder_unavailable' && thrown.code !== 'coder_unreadable') throw thrown;
    refused = thrown;
  }
  // Another build came first, the workspace is gone, or the answer was lost after it was taken: only a read tells.
  const after = await standing(client, operation, workspaceId, request, call);
  if (!('outcome' in after)) throw refused;
  const isNew = after.outcome !== 'gone' && after.build.number > before.build.number;
  // An orphan is never taken for granted from a delete of somebody else's.
  if (isNew && after.build.transition === request.transition && !isOrphan(request)) {
    return { outcome: 'started', build: after.build };
  }
  return after;
}

/** The outcome, if there is nothing to ask for; else the workspace that a build can be asked of. */
async function standing(
  client: CoderClient,
  operation: string,
  workspaceId: string,
  request: BuildRequest,
  call: CallOptions,
): Promise<BuildAsked | WorkspaceState> {
  const reading = await readById(client, workspaceId, call);
  if (reading.seen === 'deleted') return { outcome: 'gone' };
  if (reading.seen === 'unseen') throw portcullisError('coder_unseen', { operation });
  const { build } = reading.workspace;
  if (!hasEnded(build.job)) return { outcome: 'busy', build };
  // A delete is done at 410 only: one that succeeded and left the workspace there is asked for again.
  const isDone =
    request.transition !== 'delete' && build.transition === request.transition && build.job === 'succeeded';
  return isDone ? { outcome: 'already', build } : reading.workspace;
}

function post(
  client: CoderClient,
  operation: string,
  workspace: string,
  request: BuildRequest,
  call: CallOptions,
): Promise<Answer<BuildState>> {
  const version = 'templateVersionId' in request ? { template_version_id: request.templateVersionId } : {};
  const orphan = isOrphan(request) ? { orphan: true } : {};
  const body = { transition: request.transition, ...version, ...orphan };
  const sent = client.POST('/api/v2/workspaces/{workspace}/builds', {
    params: { path: { workspace } },
    body,
    ...signalOf(call),
  });
  return ask(operation, buildAnswer, sent, call);
}

function isOrphan(request: BuildRequest): boolean {
  return request.transition === 'delete' && request.orphan === true;
}

export async function cancelBuild(
  client: CoderClient,
  build: string,
  expect: 'pending' | 'running' | undefined,
  call: CallOptions = {},
): Promise<CancelAsked> {
  const operation = 'cancel build';
  const sent = client.PATCH('/api/v2/workspacebuilds/{build}/cancel', {
    params: { path: { build }, query: expect === undefined ? {} : { expect_status: expect } },
    ...signalOf(call),
  });
  const answer = await ask(operation, anyAnswer, sent, call);
  const state = await readBuild(client, build, call);
  if (answer.ok) return { outcome: 'asked', build: state };
  const { status } = answer.refusal;
  // 400 is both "has ended" and "was asked before"; the job itself says which.
  if (status === 400 && hasEnded(state.job)) return { outcome: 'ended', build: state };
  if (status === 400 && state.job === 'canceling') return { outcome: 'asked', build: state };
  if (status === 412) return { outcome: hasEnded(state.job) ? 'ended' : 'moved_on', build: state };
  throw refusalError(operation, answer.refusal);
}
