/** Reading one workspace or build. What a 404 and a 410 mean is decided here only. */
import type { BuildState } from '../../schemas/coder/build.ts';
import type { ParameterValue, WorkspaceReading, WorkspaceState } from '../../schemas/coder/workspace.ts';
import { type Answer, ask, expectAnswer } from './answer.ts';
import { buildAnswer, parameterValuesAnswer, workspaceAnswer } from './answers.schema.ts';
import type { CoderClient } from './client.ts';
import type { CallOptions } from './port.ts';
import { refusalError } from './refusal.ts';

export async function readById(
  client: CoderClient,
  workspace: string,
  call: CallOptions = {},
): Promise<WorkspaceReading> {
  const operation = 'read workspace';
  const request = client.GET('/api/v2/workspaces/{workspace}', { params: { path: { workspace } }, ...signalOf(call) });
  return reading(operation, await ask(operation, workspaceAnswer, request, call));
}

/** With `includeDeleted` the last one of that name, if none is alive. */
export async function readByName(
  client: CoderClient,
  user: string,
  name: string,
  includeDeleted: boolean,
  call: CallOptions = {},
): Promise<WorkspaceReading> {
  const operation = 'read workspace by name';
  const query = includeDeleted ? { include_deleted: true } : {};
  const request = client.GET('/api/v2/users/{user}/workspace/{name}', {
    params: { path: { user, name }, query },
    ...signalOf(call),
  });
  return reading(operation, await ask(operation, workspaceAnswer, request, call));
}

/** Deleted or not: for what a workspace last did. Null when it is not seen at all. */
export async function readLast(
  client: CoderClient,
  workspace: string,
  call: CallOptions = {},
): Promise<WorkspaceState | null> {
  const operation = 'read workspace';
  const request = client.GET('/api/v2/workspaces/{workspace}', {
    params: { path: { workspace }, query: { include_deleted: true } },
    ...signalOf(call),
  });
  const answer = await ask(operation, workspaceAnswer, request, call);
  if (answer.ok) return answer.value;
  if (answer.refusal.status === 404) return null;
  throw refusalError(operation, answer.refusal);
}

export function readBuild(client: CoderClient, build: string, call: CallOptions = {}): Promise<BuildState> {
  const request = client.GET('/api/v2/workspacebuilds/{build}', { params: { path: { build } }, ...signalOf(call) });
  return expectAnswer('read build', buildAnswer, request, call);
}

export function readParameters(
  client: CoderClient,
  build: string,
  call: CallOptions = {},
): Promise<readonly ParameterValue[]> {
  const request = client.GET('/api/v2/workspacebuilds/{build}/parameters', {
    params: { path: { build } },
    ...signalOf(call),
  });
  return expectAnswer('read build parameters', parameterValuesAnswer, request, call);
}

/** `exactOptionalPropertyTypes`: an absent signal is left out, not undefined. */
export function signalOf({ signal }: CallOptions): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

function reading(operation: string, answer: Answer<WorkspaceState>): WorkspaceReading {
  if (answer.ok) return { seen: 'present', workspace: answer.value };
  switch (answer.refusal.status) {
    case 404:
      return { seen: 'unseen' };
    case 410:
      return { seen: 'deleted' };
    default:
      throw refusalError(operation, answer.refusal);
  }
}
