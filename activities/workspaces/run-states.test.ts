import { expect, test } from 'vitest';
import { recordOf, runOfTicket } from '../../test/support/workspace-runs.ts';
import type { ReconcileLists, RunState } from '../../policies/workspaces/reconcile.ts';
import { decideOnDescribed, type RunLooks } from './run-states.ts';

const COUNT = 1_000;
const runs = Array.from({ length: COUNT }, (_, n) => runOfTicket(`T-${n}`));
const lists: ReconcileLists = {
  tenant: 'local',
  served: ['local'],
  owned: runs.map(({ run, name }) => ({ coderWorkspaceId: `w-${name}`, name, run, recorded: true })),
  records: [],
  slots: [],
};
const all = new Set(runs.map(({ run }) => run));
const closed = runs[7]?.run ?? '';
const allBut = new Set([...all].filter((run) => run !== closed));

/** A Temporal in which everything is open but what is given, with a list that may say otherwise. */
function temporal(listed: ReadonlySet<string> | null, states: Readonly<Record<string, RunState>> = {}) {
  const described: string[] = [];
  const looks: RunLooks = {
    describe: (id) => (described.push(id), Promise.resolve(states[id] ?? 'open')),
    listRunning: () => (listed === null ? Promise.reject(new Error('it is away')) : Promise.resolve(listed)),
    isSpotChecked: () => false,
  };
  return { looks, described };
}

test('a thousand owners that are listed as running cost a round no describe', async () => {
  const { looks, described } = temporal(all);
  expect(await decideOnDescribed(looks, lists, [])).toEqual({ actions: [], suspects: [] });
  expect(described).toEqual([]);
});

test('[inv-13] the one among them that is closed is described, suspected, described again and destroyed', async () => {
  const { looks, described } = temporal(allBut, { [closed]: 'closed' });
  const first = await decideOnDescribed(looks, lists, []);
  expect(first).toEqual({ actions: [], suspects: [`destroy ${closed}`] });
  const second = await decideOnDescribed(looks, lists, first.suspects);
  expect(second.actions).toMatchObject([{ kind: 'destroy', run: closed }]);
  expect(described).toEqual([closed, closed]);
});

test('[inv-13] a list that lags behind neither clears what is suspected nor accuses what is open', async () => {
  // It was seen closed, and the list calls it running once more.
  const lagging = temporal(all, { [closed]: 'closed' });
  const saved = await decideOnDescribed(lagging.looks, lists, [`destroy ${closed}`]);
  expect(saved.actions).toMatchObject([{ kind: 'destroy', run: closed }]);
  expect(lagging.described).toEqual([closed]);
  // It is open, and the list does not know yet, two rounds running.
  const young = temporal(allBut);
  for (const suspects of [[], [`destroy ${closed}`]]) {
    expect(await decideOnDescribed(young.looks, lists, suspects)).toEqual({ actions: [], suspects: [] });
  }
  expect(young.described).toEqual([closed, closed]);
});

test('nothing is suspected on a list alone: what a suspicion rests on is described first', async () => {
  // Nothing that the slots know: each would be held again, if its run is open as the list says.
  const records = runs.map(({ run }) => recordOf(run, { owner: '' }));
  const { looks, described } = temporal(all, { [closed]: 'closed' });
  const decision = await decideOnDescribed(looks, { ...lists, records }, []);
  expect(described.toSorted()).toEqual([...all].toSorted());
  expect(decision.suspects).toContain(`destroy ${closed}`);
  expect(decision.suspects).not.toContain(`hold_slot ${closed}`);
});

test('when they cannot be listed, or are few, each is described', async () => {
  const away = temporal(null, { [closed]: 'closed' });
  expect((await decideOnDescribed(away.looks, lists, [])).suspects).toEqual([`destroy ${closed}`]);
  expect(away.described).toHaveLength(COUNT);
  const few = temporal(all, { [closed]: 'closed' });
  const some = { ...lists, owned: lists.owned.slice(0, 10) };
  expect((await decideOnDescribed(few.looks, some, [])).suspects).toEqual([`destroy ${closed}`]);
  expect(few.described).toHaveLength(10);
});

test('[inv-13] a list that is wrong for good hides a closed owner only until it is spot-checked', async () => {
  const { looks } = temporal(all, { [closed]: 'closed' });
  expect((await decideOnDescribed(looks, lists, [])).suspects).toEqual([]);
  const checked = await decideOnDescribed({ ...looks, isSpotChecked: (id) => id === closed }, lists, []);
  expect(checked.suspects).toEqual([`destroy ${closed}`]);
});

test('an owner that cannot be described is neither open nor over, whatever the list says', async () => {
  const { looks } = temporal(all);
  const blind: RunLooks = { ...looks, describe: () => Promise.reject(new Error('it is away')) };
  expect(await decideOnDescribed(blind, lists, [`destroy ${closed}`])).toEqual({ actions: [], suspects: [] });
});
