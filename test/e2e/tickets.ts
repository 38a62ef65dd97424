/** Tickets on a whole stack: started from the example on a remote of their own, and watched by what everybody can see of them. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readTicketFile } from '../../cli/ticket/file.ts';
import { submitTicket } from '../../cli/ticket/start.ts';
import { exampleRepository } from '../../local/example.ts';
import { EXAMPLE_TICKET_FILE, exampleRemote, remoteLog } from '../../local/example-ticket.ts';
import type { TicketRecord } from '../../schemas/ticket/activities.ts';
import type { TicketPhase } from '../../schemas/ticket/phase.ts';
import type { WorkspaceRecord } from '../../schemas/workspace/lifecycle.ts';
import { pollUntil } from '../support/poll.ts';
import type { Stack } from './stage.ts';

export interface StartedTicket {
  readonly id: string;
  /** The bare repository that its change lands on. */
  readonly remote: string;
}

/** Phases that only a person leaves, or nobody. */
export const ENDS = ['done', 'abandoned', 'blocked', 'awaiting_human'] as const satisfies readonly TicketPhase[];

/** One method instead of two: one segment, in which the scripted FORGE makes no mistake. */
export const ONE_SEGMENT = {
  title: 'Tell the level',
  body: 'Callers can ask for `level(time)`, how many tokens are there.',
} as const;

/** Longer than any ticket takes, also where everything is killed once. */
const TICKET_MS = 500_000;

export async function startTicket(
  stack: Stack,
  id: string,
  change: { readonly title?: string; readonly body?: string } = {},
): Promise<StartedTicket> {
  const repository = await exampleRepository(stack.paths.examples);
  const remote = await exampleRemote(join(stack.paths.root, 'remotes'), id, repository);
  const definition = await readTicketFile(EXAMPLE_TICKET_FILE);
  await submitTicket(stack.operator, {
    ...definition,
    ...change,
    id,
    repository: { remote: pathToFileURL(remote).href },
  });
  return { id, remote };
}

/** The ticket once what is seen of it is so; while the gateway is away nothing is seen. */
export async function untilTicket(
  stack: Stack,
  id: string,
  what: string,
  isSo: (record: TicketRecord) => boolean,
  deadlineMs = TICKET_MS,
): Promise<TicketRecord> {
  let last = 'nothing';
  return await pollUntil(
    async () => {
      const { ticket } = await stack.operator.getTicket(id);
      const { phase, revision, stop } = ticket.state;
      last = `${phase} at ${revision}${stop === null ? '' : ` (${stop.cause}: ${stop.detail})`}`;
      return isSo(ticket) && ticket;
    },
    { what: `${id} ${what}`, deadlineMs, everyMs: 25 },
  ).catch((thrown: unknown) => {
    throw new Error(`${id} was ${last}; wanted: ${what}`, { cause: thrown });
  });
}

/** Fails at once when the ticket stopped or ended somewhere else. */
export async function untilPhase(
  stack: Stack,
  id: string,
  wanted: readonly TicketPhase[],
  deadlineMs?: number,
): Promise<TicketRecord> {
  const stops: readonly TicketPhase[] = [...wanted, ...ENDS];
  const found = await untilTicket(
    stack,
    id,
    `to be in ${wanted.join(' or ')}`,
    ({ state }) => stops.includes(state.phase),
    deadlineMs,
  );
  const { phase, stop, history } = found.state;
  if (wanted.includes(phase)) return found;
  const cause = stop === null ? '' : `${stop.cause}: ${stop.detail}`;
  throw new Error(`${id} is ${phase} ${cause}; ${JSON.stringify(history.slice(-4))}`);
}

/** The workspaces that were ever made for the ticket, once each is proved gone. */
export async function untilGone(stack: Stack, id: string): Promise<readonly WorkspaceRecord[]> {
  return await pollUntil(
    async () => {
      const { items } = await stack.operator.listWorkspaces({ limit: 500 });
      const of = items.filter(({ ticket }) => ticket === id);
      return of.every(({ state }) => state === 'gone') && of;
    },
    { what: `the workspaces of ${id} to be gone`, deadlineMs: 60_000, everyMs: 100 },
  );
}

/** Subjects of the remote's newest commits on main, newest first. */
export async function landedSubjects(remote: string): Promise<readonly string[]> {
  const log = await remoteLog(remote, 'main');
  return log.map((line) => line.slice(line.indexOf(' ') + 1));
}

/** The commits of main, newest first, whole ids. */
export function mainOf(remote: string): readonly string[] {
  return gitIn(remote, 'rev-list', '--first-parent', 'main').split('\n');
}

/** Somebody else lands something meanwhile; the commit. */
export function moveBase(stack: Stack, remote: string, subject: string): string {
  const work = mkdtempSync(join(stack.root, 'elsewhere-'));
  const git = (...args: readonly string[]) => gitIn(work, ...args);
  git('clone', '-q', remote, '.');
  git('-c', 'user.name=b', '-c', 'user.email=b@example.com', 'commit', '-q', '--allow-empty', '-m', subject);
  git('push', '-q', 'origin', 'main');
  return git('rev-parse', 'HEAD');
}

/** Git without anybody's configuration. */
export function gitIn(directory: string, ...args: readonly string[]): string {
  const env = {
    PATH: process.env['PATH'],
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  return execFileSync('git', args, { cwd: directory, env, encoding: 'utf8' }).trim();
}
