/** The main job once through on the real local stack: scripted agents in real workspaces, real git, real gates. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAuditEntry } from '../../activities/store/audit-chain.ts';
import { connectStore } from '../../activities/store/connect.ts';
import { headText } from '../../activities/store/records/audit.ts';
import { KEY_FILES, readSecret } from '../../local/keys.ts';
import { localStoreUrl } from '../../local/store.ts';
import { keysOf } from '../../schemas/keys.ts';
import { startStack, type Stack } from './stage.ts';
import { landedSubjects, moveBase, startTicket, untilGone, untilPhase } from './tickets.ts';

const LONG = 240_000;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

test(
  '[inv-01] [inv-03] [inv-18] a ticket goes from plan to merged change, over a killed control worker and a base that moved',
  { timeout: LONG },
  async () => {
    const { id, remote } = await startTicket(stack, 'T-100');
    await untilPhase(stack, id, ['segment_review']);
    await stack.killAndAwait('control');
    await untilPhase(stack, id, ['review_ready']);
    const moved = moveBase(stack, remote, 'Land something else');
    const { state } = await untilPhase(stack, id, ['done']);

    // One segment was sent back once, by a defect that the reviewer found in the code.
    expect(state.lineage).toMatchObject([{ phase: 'segment_review', round: 1 }]);
    // What landed is the second candidate, on the base that had moved, and nothing but it.
    expect(await landedSubjects(remote)).toEqual([
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
  const mine = await untilGone(stack, 'T-100');
  expect(mine.length).toBeGreaterThanOrEqual(8);
  for (const { role, trigger } of mine)
    expect(trigger).toBe(role === 'forge' || role === 'lore' ? 'merged' : 'evaluated');

  const trace = await stack.cli('ticket', 'trace', 'T-100', '--json');
  expect(trace, trace.stderr).toMatchObject({ code: 0 });
  const told: unknown = JSON.parse(trace.stdout);
  expect(told).toMatchObject({ kind: 'TicketTrace', phase: 'done', workspacesLeft: 0, omitted: [] });
  const lines = Reflect.get(Object(told), 'items') as readonly { readonly kind: string; readonly what: string }[];
  expect(lines.filter(({ kind }) => kind === 'gate').map(({ what }) => what)).toContain('operation pass');
  expect(lines.filter(({ kind, what }) => kind === 'workspace' && what.endsWith(' gone'))).toHaveLength(mine.length);
  expect(lines.filter(({ kind }) => kind === 'ticket').at(-1)).toMatchObject({ what: 'documenting → done' });
});

test(
  '[inv-02] [inv-16] a ticket that nobody can plan waits for a person, says why, and abandoning it destroys its workspaces',
  { timeout: LONG },
  async () => {
    const { id } = await startTicket(stack, 'T-101', { title: 'Do the impossible', body: 'Add `levitate(height)`.' });
    await untilPhase(stack, id, ['awaiting_human']);
    const why = await stack.cli('ticket', 'why', id, '--json');
    expect(JSON.parse(why.stdout)).toMatchObject({ kind: 'TicketWhy', phase: 'awaiting_human', waitingOn: 'operator' });
    const abandoned = await stack.cli('ticket', 'abandon', id, '--reason', 'nobody can', '--json');
    expect(abandoned, abandoned.stderr).toMatchObject({ code: 0 });
    await untilPhase(stack, id, ['abandoned']);
    await untilGone(stack, id);
    expect((await stack.cli('ticket', 'resume', id, '--reason', 'again')).code).not.toBe(0);
  },
);

test('[inv-03] an operator’s own keys find the record of all that whole, and notice when its end is cut off', async () => {
  const whole = await stack.cli('audit', 'verify', '--json');
  expect(whole, whole.stderr).toMatchObject({ code: 0 });
  const told: unknown = JSON.parse(whole.stdout);
  expect(told).toMatchObject({ kind: 'AuditVerification', whole: true, faults: [], decisionFaults: [] });
  expect(Reflect.get(Object(told), 'anchors')).toBeGreaterThan(5);
  expect(Reflect.get(Object(told), 'decisions')).toBeGreaterThan(5);

  const store = await connectStore({
    url: localStoreUrl(stack.state().ports.store),
    user: 'control',
    password: readSecret(join(stack.paths.keys, KEY_FILES.storePassword('control'))),
  });
  const { auditHead } = keysOf('local');
  const head = await store.run((redis) => redis.get(auditHead));
  try {
    // Entries are written once, even by this user; where the chain ends it may say.
    const last = await readAuditEntry(store, 'local', 10);
    await store.run((redis) => redis.set(auditHead, headText({ n: 10, digest: last?.digest ?? null })));
    const cut = await stack.cli('audit', 'verify', '--json');
    expect(cut.code).toBe(3);
    expect(JSON.parse(cut.stdout)).toMatchObject({ entries: 10, whole: false });
    expect(cut.stdout).toContain('"code":"anchor"');
    expect((await stack.cli('audit', 'verify', '--anchors', '0')).code).toBe(0);
  } finally {
    await store.run((redis) => redis.set(auditHead, head ?? ''));
    await store.close();
  }
});

test('the newest of the record and of the lives of tickets and workspaces is printed', async () => {
  const { head } = await stack.operator.auditPage({ limit: 1 });
  const audit = await stack.cli('audit', 'tail', '--limit', '3', '--json');
  const entries = audit.stdout
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
  expect(entries).toHaveLength(3);
  expect(entries.at(-1)).toMatchObject({ kind: 'AuditEntry', digest: head.digest });
  const events = await stack.cli('events', 'tail', '--limit', '500');
  expect(events, events.stderr).toMatchObject({ code: 0 });
  expect(events.stdout).toMatch(/T-100 .*merged/);
});
