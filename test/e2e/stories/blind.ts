/** A ticket whose reviewer cannot see what it is asked about, three times, each in another way; and whose pass outlives its execution. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LandAnswer } from '../../../schemas/git/activities.ts';
import type { GateHistoryAnswer } from '../../../schemas/gate/operator-api.ts';
import type { TicketState } from '../../../schemas/ticket/state.ts';
import { pollUntil } from '../../support/poll.ts';
import type { PuppetStack } from '../puppets.ts';
import { mainOf, ONE_SEGMENT, startTicket, untilPhase } from '../tickets.ts';
import { tryLanding, type MergePass } from './landing-try.ts';
import { decide, untilStopped } from './words.ts';

const ID = 'T-200';

/** Takes an object out of the checkout, whether it lies loose or in a pack. */
const FORGET = `forget() {
  mkdir -p /tmp/packs
  for pack in .git/objects/pack/*; do [ -e "$pack" ] && mv "$pack" /tmp/packs/; done
  for pack in /tmp/packs/*.pack; do [ -e "$pack" ] && git unpack-objects -q < "$pack"; done
  rm -f ".git/objects/$(echo "$1" | cut -c1-2)/$(echo "$1" | cut -c3-)"
}
`;
const NO_PLAN = `${FORGET}forget "$(git rev-parse HEAD:PLAN.md)"\nexec $SCRIPTED`;
const EMPTY = 'git checkout -q --orphan nothing && git rm -rfq . && exec $SCRIPTED';
/** A directory of the base is gone: the plan can still be read, and the difference cannot. */
const NO_DIFFERENCE = `${FORGET}forget "$(git rev-parse HEAD~1:src)"\nexec $SCRIPTED`;

export interface BlindStory {
  /** Where it stopped without its plan, in an empty workspace, and without its difference. */
  readonly stops: Readonly<Record<'noPlan' | 'empty' | 'noDifference', TicketState>>;
  /** What `ticket why` said at each. */
  readonly whys: readonly string[];
  /** Decisions after the first two, in which no review could be. */
  readonly decisionsWhenBlind: GateHistoryAnswer;
  /** The merge pass of the first execution, which landed nothing: what it was worth before, and in the second one. */
  readonly stale: { readonly pass: MergePass; readonly standing: string; readonly answer: LandAnswer };
  /** Main of the remote, before and after the stale pass was tried. */
  readonly main: readonly [readonly string[], readonly string[]];
  readonly end: TicketState;
}

export async function blindStory({ stack, note }: PuppetStack): Promise<BlindStory> {
  note(`${ID}.sentinel.plan_review`, NO_PLAN);
  const { remote } = await startTicket(stack, ID, ONE_SEGMENT);
  const why = async () => (await stack.cli('ticket', 'why', ID)).stdout;
  const noPlan = await untilStopped(stack, ID, 0);
  const whys = [await why()];

  note(`${ID}.sentinel.plan_review`, EMPTY);
  const empty = await untilStopped(stack, ID, await decide(stack, noPlan, 'retry'));
  whys.push(await why());
  const decisionsWhenBlind = await stack.operator.gateHistory(ID);

  note(`${ID}.sentinel.plan_review`, null);
  note(`${ID}.sentinel.segment_review`, NO_DIFFERENCE);
  const noDifference = await untilStopped(stack, ID, await decide(stack, empty, 'retry'));
  whys.push(await why());

  // A lock that somebody left keeps the remote from moving its branch: the merge gate passes and nothing lands.
  note(`${ID}.sentinel.segment_review`, null);
  const lock = join(remote, 'refs', 'heads', 'main.lock');
  writeFileSync(lock, '');
  const unlanded = await untilStopped(stack, ID, await decide(stack, noDifference, 'retry'));
  rmSync(lock);
  const pass = await mergePass();

  await decide(stack, unlanded, 'resume');
  await pollUntil(async () => (await stack.operator.pair(ID)).head.generation === 2, {
    what: 'the second execution to be that of the pair',
    deadlineMs: 30_000,
  });
  const before = mainOf(remote);
  const answer = await tryLanding(stack, ID, remote, pass);
  const main = [before, mainOf(remote)] as const;
  const { standing } = await stack.operator.showGate(pass.evaluationKey);
  const { state: end } = await untilPhase(stack, ID, ['done']);
  return {
    stops: { noPlan, empty, noDifference },
    whys,
    decisionsWhenBlind,
    stale: { pass, standing: standing.applicability, answer },
    main,
    end,
  };

  /** The newest, and the candidate that it was to land. */
  async function mergePass(): Promise<MergePass> {
    const { items } = await stack.operator.gateHistory(ID);
    const passed = items.find(({ gate, decision }) => gate === 'merge' && decision === 'pass');
    const intent = unlanded.history.findLast(({ detail }) => detail.startsWith(LANDING))?.detail;
    if (passed?.evaluationKey == null || intent === undefined) {
      throw new Error(`nothing was to be landed: ${JSON.stringify(unlanded.stop)}`);
    }
    const { evaluationKey, execution } = passed;
    return { evaluationKey, generation: execution?.generation ?? 0, candidate: intent.slice(LANDING.length) };
  }
}

const LANDING = 'landing ';
