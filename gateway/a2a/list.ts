/** ListTasks: every filter of A2A 1.0, newest status first, in pages whose token is the place of the last one shown. */
import { TaskState, type ListTasksRequest, type ListTasksResponse } from '@a2a-js/sdk';
import { compareCodeUnits } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { TaskSnapshot } from '../../schemas/verify/task.ts';
import type { StoreReader } from '../../activities/store/port.ts';
import { stateOf, taskOf } from './convert.ts';

const DEFAULT_PAGE = 50;
const MAX_PAGE = 100;
const READ_AT_ONCE = 200;
/** The newest tasks of a pair that a list looks through; older ones are still there by id. */
const MAX_LISTED = 2_000;

/** What a list reads of the store. */
export type ListSource = Pick<StoreReader, 'listTasks' | 'readResult'>;

interface Place {
  readonly updatedAt: number;
  readonly taskId: string;
}

/** @throws `schema_invalid` for a page size, token or time that cannot be one */
export async function listPairTasks(
  store: ListSource,
  tenant: string,
  pair: string,
  params: ListTasksRequest,
): Promise<ListTasksResponse> {
  const places = (tasks: readonly TaskSnapshot[]) =>
    tasks.map((task) => ({ ...task, state: stateOf(task.state), task }));
  // What cannot be asked is refused before anything is read.
  pageOf([], params);
  const { page, ...answer } = pageOf(places(await newestTasks(store, tenant, pair)), params);
  const artifacts = params.includeArtifacts ?? false;
  return { tasks: await Promise.all(page.map(({ task }) => shown(store, tenant, task, artifacts))), ...answer };
}

/** What a list filters and orders by. */
export interface Listed extends Place {
  readonly contextId: string;
  readonly state: TaskState;
}

export interface Page<T> extends Omit<ListTasksResponse, 'tasks'> {
  readonly page: readonly T[];
}

/** The page of these tasks that is asked for. @throws as {@link listPairTasks} */
export function pageOf<T extends Listed>(all: readonly T[], params: ListTasksRequest): Page<T> {
  const pageSize = params.pageSize ?? DEFAULT_PAGE;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > MAX_PAGE) {
    throw portcullisError('schema_invalid', { path: 'pageSize', reason: `must be from 1 to ${MAX_PAGE}` });
  }
  requireHistoryLength(params.historyLength);
  if (params.status === TaskState.UNRECOGNIZED) {
    throw portcullisError('schema_invalid', { path: 'status', reason: 'is no state of a task' });
  }
  const from = params.pageToken === '' ? null : readToken(params.pageToken);
  const since = params.statusTimestampAfter === undefined ? null : readTime(params.statusTimestampAfter);
  const matching = all.filter((task) => matches(task, params, since)).toSorted(newestFirst);
  const rest = from === null ? matching : matching.filter((task) => newestFirst(task, from) > 0);
  const page = rest.slice(0, pageSize);
  const last = page.at(-1);
  const nextPageToken = last !== undefined && rest.length > page.length ? makeToken(last) : '';
  return { page, nextPageToken, pageSize, totalSize: matching.length };
}

/** Tasks here have no history, so any length of it is the same; a negative one is none. @throws `schema_invalid` */
export function requireHistoryLength(length: number | undefined): void {
  if (length !== undefined && length < 0) {
    throw portcullisError('schema_invalid', { path: 'historyLength', reason: 'must not be negative' });
  }
}

/** The newest tasks of a pair, by when they were accepted. */
export async function newestTasks(
  store: ListSource,
  tenant: string,
  pair: string,
  atMost: number = MAX_LISTED,
): Promise<readonly TaskSnapshot[]> {
  const found: TaskSnapshot[] = [];
  let before: number | null = null;
  while (found.length < atMost) {
    const limit = Math.min(READ_AT_ONCE, atMost - found.length);
    const page: readonly TaskSnapshot[] = await store.listTasks(tenant, pair, { limit, before });
    const last = page.at(-1);
    if (last === undefined) break;
    found.push(...page);
    // No two tasks of a pair were accepted in the same millisecond.
    before = last.createdAt;
  }
  return found;
}

async function shown(store: ListSource, tenant: string, task: TaskSnapshot, artifacts: boolean) {
  const result = task.phase === 'ended' ? await store.readResult(tenant, task.taskId) : null;
  return taskOf(task, { result, artifacts });
}

function matches(task: Listed, params: ListTasksRequest, since: number | null): boolean {
  if (params.contextId !== '' && task.contextId !== params.contextId) return false;
  if (params.status !== TaskState.TASK_STATE_UNSPECIFIED && task.state !== params.status) return false;
  return since === null || task.updatedAt >= since;
}

function newestFirst(a: Place, b: Place): number {
  return b.updatedAt - a.updatedAt || compareCodeUnits(a.taskId, b.taskId);
}

function makeToken({ updatedAt, taskId }: Place): string {
  return Buffer.from(`${updatedAt}:${taskId}`).toString('base64url');
}

function readToken(token: string): Place {
  const match = /^([0-9]{1,15}):([A-Za-z0-9._-]{1,128})$/.exec(Buffer.from(token, 'base64url').toString('latin1'));
  const [, updatedAt, taskId] = match ?? [];
  if (updatedAt === undefined || taskId === undefined) {
    throw portcullisError('schema_invalid', { path: 'pageToken', reason: 'is not one that a list answered' });
  }
  return { updatedAt: Number(updatedAt), taskId };
}

function readTime(text: string): number {
  const at = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) {
    throw portcullisError('schema_invalid', { path: 'statusTimestampAfter', reason: 'is not an RFC 3339 time' });
  }
  return at;
}
