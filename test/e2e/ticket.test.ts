/** The main job once through on the real local stack: scripted agents in real workspaces, real git, real gates. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readTicketFile } from '../../cli/ticket/file.ts';
import { submitTicket } from '../../cli/ticket/start.ts';
import { EXAMPLE_TICKET_FILE, exampleRemote, remoteLog } from '../../local/example-ticket.ts';
import { exampleRepository } from '../../local/example.ts';
import type { TicketRecord } from '../../schemas/ticket/activities.ts';
import type { TicketPhase } from '../../schemas/ticket/phase.ts';
import { pollUntil } from '../support/poll.ts';
import { startStack, type Stack } from './stage.ts';

const LONG = 240_000;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

interface Started {
  readonly id: string;
  readonly remote: string;
}

async function start(id: string, change: { readonly title?: string; readonly body?: string } = {}): Promise<Started> {
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

async function untilPhase(id: string, wanted: readonly TicketPhase[], deadlineMs = LONG): Promise<TicketRecord> {
  return await pollUntil(
    async () => {
      const record = await stack.operator.getTicket(id).then(
        ({ ticket }) => ticket,
        () => null,
      );
      return record !== null && wanted.includes(record.state.phase) && record;
    },
    { what: `${id} to be in ${wanted.join(' or ')}`, deadlineMs, everyMs: 100 },
  );
}

const ENDS = ['done', 'abandoned', 'blocked', 'awaiting_human'] as const;

/** Somebody else lands something meanwhile. */
function moveBase(remote: string): string {
  const work = join(stack.root, 'elsewhere');
  mkdirSync(work, { recursive: true });
  const env = { PATH: process.env['PATH'], HOME: stack.root, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: work, env, encoding: 'utf8' });
  git('clone', '-q', remote, '.');
  git(
    '-c',
    'user.name=b',
    '-c',
    'user.email=b@example.com',
    'commit',
    '-q',
    '--allow-empty',
    '-m',
    'Land something else',
  );
  git('push', '-q', 'origin', 'main');
  return git('rev-parse', 'HEAD').trim();
}

test(
  '[inv-01] [inv-03] [inv-18] a ticket goes from plan to merged change, over a killed control worker and a base that moved',
  { timeout: LONG },
  async () => {
    const { id, remote } = await start('T-100');
    await untilPhase(id, ['segment_review', ...ENDS]);
    await stack.killAndAwait('control');
    await untilPhase(id, ['review_ready', ...ENDS]);
    const moved = moveBase(remote);
    const { state } = await untilPhase(id, ENDS);
    expect(state.phase, JSON.stringify(state.history.slice(-4))).toBe('done');

    // One segment was sent back once, by a defect that the reviewer found in the code.
    expect(state.lineage).toMatchObject([{ phase: 'segment_review', round: 1 }]);
    // What landed is the second candidate, on the base that had moved, and nothing but it.
    const log = await remoteLog(remote, 'main');
    expect(log.map((line) => line.slice(line.indexOf(' ') + 1))).toEqual([
      'Document T-100: Tell the level and take tokens back',
      'Tell the level and take tokens back',
      'Land something else',
      'Test the token bucket',
      'Add a token bucket',
    ]);
    expect(state.merge).toMatchObject({ state: 'landed', candidate: state.candidate?.commit });
    expect(state.candidate?.base).toBe(moved);

    const { items } = await stack.operator.gateHistory(id);
    const decided = items
      .flatMap(({ gate, decision }) => (decision === null ? [] : [`${gate} ${decision}`]))
      .toReversed();
    expect(decided).toEqual([
      'plan pass',
      'segment pass',
      'segment rework',
      'segment pass',
      'merge pass',
      'merge pass',
      'operation pass',
    ]);
    // The pass on the first candidate says nothing about what landed.
    const merges = items.filter(({ gate, decision }) => gate === 'merge' && decision !== null);
    expect(merges.map(({ applicability }) => applicability)).toEqual(['applicable', 'subject_superseded']);
    const { evidence, standing } = await stack.operator.showGate(merges[0]?.evaluationKey ?? '');
    expect(standing.authorises).toBe(true);
    expect(
      evidence
        .filter(({ kind }) => kind === 'check')
        .map(({ about, status }) => `${about} ${status}`)
        .toSorted(),
    ).toEqual(['candidate-bound passed', 'tests passed']);
  },
);

test('[inv-10] [inv-11] every workspace of an ended ticket is gone, with the trigger that ended it', async () => {
  const mine = await pollUntil(
    async () => {
      const { items } = await stack.operator.listWorkspaces({ limit: 500 });
      const of = items.filter(({ ticket }) => ticket === 'T-100');
      return of.every(({ state }) => state === 'gone') && of;
    },
    { what: 'the workspaces of T-100 to be gone', deadlineMs: 60_000 },
  );
  expect(mine.length).toBeGreaterThanOrEqual(8);
  for (const { role, trigger } of mine)
    expect(trigger).toBe(role === 'forge' || role === 'lore' ? 'merged' : 'evaluated');
});

test(
  '[inv-02] [inv-16] a ticket that nobody can plan waits for a person, says why, and abandoning it destroys its workspaces',
  { timeout: LONG },
  async () => {
    const { id } = await start('T-101', { title: 'Do the impossible', body: 'Add `levitate(height)`.' });
    await untilPhase(id, ['awaiting_human']);
    const why = await stack.cli('ticket', 'why', id, '--json');
    expect(JSON.parse(why.stdout)).toMatchObject({ kind: 'TicketWhy', phase: 'awaiting_human', waitingOn: 'operator' });
    const abandoned = await stack.cli('ticket', 'abandon', id, '--reason', 'nobody can', '--json');
    expect(abandoned, abandoned.stderr).toMatchObject({ code: 0 });
    await untilPhase(id, ['abandoned']);
    await pollUntil(
      async () => {
        const { items } = await stack.operator.listWorkspaces({ limit: 500 });
        return items.filter(({ ticket }) => ticket === id).every(({ state }) => state === 'gone');
      },
      { what: `the workspaces of ${id} to be gone`, deadlineMs: 60_000 },
    );
    expect((await stack.cli('ticket', 'resume', id, '--reason', 'again')).code).not.toBe(0);
  },
);
