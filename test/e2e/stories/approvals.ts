/** Approvals that are stale, raced for and asked for by the wrong one; a producer's own word; a workspace that is lost. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { VerifyTask } from '../../../client/a2a.ts';
import { hasEnded } from '../../../client/watch.ts';
import type { GateAnswer } from '../../../schemas/gate/operator-api.ts';
import { SEATS_A_ROLE } from '../../../schemas/verification/workflow.ts';
import type { TicketState } from '../../../schemas/ticket/state.ts';
import { pollUntil } from '../../support/poll.ts';
import type { Acting, PuppetStack } from '../puppets.ts';
import { askFor, type Stack } from '../stage.ts';
import { startTicket, untilPhase, untilTicket } from '../tickets.ts';
import { APPROVED, approvalOf, decide, refusalOf, REJECTED, reviewSaying } from './words.ts';

const ID = 'T-201';
/** The generation of the second evaluation's first reviewer. */
const THIRD = SEATS_A_ROLE + 1;
const BRANCH = `portcullis/${ID}`;
const REVIEW = 'CONTRACT.md';

const REPLAN = `git fetch -q && git reset -q --hard origin/${BRANCH} && echo 'And once more.' >> PLAN.md &&
git commit -qam 'Plan again' && git push -q origin HEAD:refs/heads/${BRANCH} && portcullis submit plan`;

/** Pushes a test that fails; its own tree is green again before anybody runs anything in it. */
const RED_THAT_LOOKS_GREEN = `set -e
printf "\\ntest('is wrong', () => { throw new Error('on purpose'); });\\n" >> test/token-bucket.test.js
git commit -qam 'Add a test' && git push -q origin HEAD:refs/heads/${BRANCH}
git checkout -q HEAD~1 -- test/token-bucket.test.js
touch "$HOME/pushed"
while [ ! -e /opt/desk/${ID}.go ]; do sleep 0.1; done
portcullis submit segment`;
const MEND = `git fetch -q && git reset -q --hard origin/${BRANCH} && git revert --no-edit HEAD >&2 &&
git push -q origin HEAD:refs/heads/${BRANCH} && exec $SCRIPTED`;

export interface ApprovalsStory {
  /** The plan that was reviewed first, and the one that was reviewed when its approval was tried. */
  readonly plans: readonly [number, number];
  readonly stale: Readonly<Record<'byItsOwn' | 'byAnother' | 'withAnothersToken', string>>;
  /** Before and after the stale approval and FORGE's were tried. */
  readonly untouched: readonly [TicketState, TicketState];
  readonly forge: Readonly<Record<'approves' | 'rejects' | 'appends' | 'readsToken', string>>;
  readonly race: readonly string[];
  readonly own: Readonly<{ task: VerifyTask; askedByForge: string; gate: GateAnswer; after: TicketState }>;
  /** `resumed`: when the second segment was submitted after all. */
  readonly lost: Readonly<{
    before: TicketState;
    after: TicketState;
    late: string;
    standings: readonly string[];
    resumed: TicketState;
  }>;
}

export async function approvalsStory(puppets: PuppetStack): Promise<ApprovalsStory> {
  const { stack, note } = puppets;
  note(`${ID}.sentinel.plan_review`, 'hold');
  await startTicket(stack, ID);
  const reviews = await reviewPlans(puppets);
  const own = await tryOwnWord(puppets);
  const lost = await loseWorkspace(puppets);
  // That tickets end merged, this one's kind too, other tests show.
  await pollUntil(async () => (await decide(stack, await now(stack), 'abandon')) > 0, {
    what: `${ID} to be abandoned`,
  });
  await untilPhase(stack, ID, ['abandoned']);
  return { ...reviews, own, lost };
}

async function reviewPlans({ stack, note, acting }: PuppetStack) {
  const first = await acting(ID, 'sentinel', 1);
  const kept = await approvalOf(first);
  const planned = await now(stack);
  const { digest } = await first.calls.appendReview(REVIEW, reviewSaying('Looks good', APPROVED));
  // Its turn ends and its approval is left over; the next reviewer sends the plan back.
  note(`${ID}.sentinel.1`, 'exit 3');
  const second = await acting(ID, 'sentinel', 2);
  const rejecting = await approvalOf(second);
  const rejected = await second.calls.appendReview(REVIEW, reviewSaying('Not yet', REJECTED));
  note(`${ID}.forge.planning`, REPLAN);
  await second.calls.reject({ approvalId: rejecting.id, token: rejecting.token, reviewDigest: rejected.digest });
  note(`${ID}.sentinel.2`, 'echo rejected');

  const third = await acting(ID, 'sentinel', THIRD);
  const current = await approvalOf(third);
  const replanned = await now(stack);
  const stale = { approvalId: kept.id, token: kept.token, reviewDigest: digest };
  const appended = await third.calls.appendReview(REVIEW, reviewSaying('One', APPROVED));
  const tried = {
    byItsOwn: await refusalOf(first.calls.approve(stale)),
    byAnother: await refusalOf(third.calls.approve({ ...stale, reviewDigest: appended.digest })),
    withAnothersToken: await refusalOf(
      third.calls.approve({ approvalId: current.id, token: kept.token, reviewDigest: appended.digest }),
    ),
  };
  const forge = await approveAsForge(await acting(ID, 'forge', 1), {
    approvalId: current.id,
    token: current.token,
    reviewDigest: appended.digest,
  });
  const untouched = [replanned, await now(stack)] as const;
  const other = await third.calls.appendReview(REVIEW, reviewSaying('Two', APPROVED));
  const race = await Promise.all(
    [appended, other].map((review) =>
      refusalOf(third.calls.approve({ approvalId: current.id, token: current.token, reviewDigest: review.digest })),
    ),
  );
  note(`${ID}.forge.building`, RED_THAT_LOOKS_GREEN);
  // Which of the two reviews was approved is not what was read last, maybe: another reviewer says it again.
  note(`${ID}.sentinel.plan_review`, null);
  note(`${ID}.sentinel.${THIRD}`, 'exit 3');
  const plans = [planned.plan?.revision ?? 0, replanned.plan?.revision ?? 0] as const;
  return { plans, stale: tried, untouched, forge, race };
}

async function approveAsForge({ calls }: Acting, ask: Parameters<Acting['calls']['approve']>[0]) {
  return {
    approves: await refusalOf(calls.approve(ask)),
    rejects: await refusalOf(calls.reject(ask)),
    appends: await refusalOf(calls.appendReview(REVIEW, reviewSaying('Mine', APPROVED))),
    readsToken: (await calls.context()).approval === null ? 'none' : 'a token',
  };
}

/** FORGE's executor says that FORGE's own tree is green; what was pushed is not. */
async function tryOwnWord({ stack, note, acting }: PuppetStack): Promise<ApprovalsStory['own']> {
  const forge = await acting(ID, 'forge', 1);
  await pollUntil(() => existsSync(join(forge.place.workspace, 'home', 'pushed')), {
    what: 'FORGE to have pushed',
    deadlineMs: 120_000,
  });
  const verify = { argv: ['npm', 'test'], executor: 'forge', cwd: 'worktree' } as const;
  const askedByForge = await refusalOf(forge.client.sendVerify(askFor(ID, verify)));
  const { id } = await stack.operator.sendVerify(askFor(ID, verify));
  const task = await pollUntil(
    async () => {
      const found = await stack.operator.getTask(id);
      return hasEnded(found) && found;
    },
    { what: 'FORGE’s own run to end', deadlineMs: 60_000, everyMs: 100 },
  );
  note(`${ID}.forge.building`, MEND);
  note(`${ID}.go`, '');
  const { state: after } = await untilTicket(
    stack,
    ID,
    'to be sent back by its segment gate',
    ({ state }) => state.phase === 'building' && state.attempts.rounds.segment === 1,
  );
  const { items } = await stack.operator.gateHistory(ID);
  const [newest] = items.filter(({ gate }) => gate === 'segment');
  const gate = await stack.operator.showGate(newest?.evaluationKey ?? '');
  return { task, askedByForge, gate, after };
}

/** kill -9 of everything in FORGE's workspace while it builds the second segment. */
async function loseWorkspace({ stack, note, acting }: PuppetStack): Promise<ApprovalsStory['lost']> {
  await untilTicket(
    stack,
    ID,
    'to have its first segment reviewed again',
    ({ state }) => state.phase === 'segment_review' && state.attempts.rounds.segment === 1,
  );
  note(`${ID}.forge.building`, 'hold');
  const { state: before } = await untilTicket(
    stack,
    ID,
    'to build its second segment',
    ({ state }) => state.phase === 'building' && state.segment?.n === 2 && state.waitingOn === 'segment',
  );
  const forge = await acting(ID, 'forge', 1);
  killAll(forge);
  const { state: after } = await untilTicket(stack, ID, 'to go on in a new execution', ({ state }) => {
    return state.execution.generation === 2 || state.stop !== null;
  });
  note(`${ID}.forge.building`, null);
  const { head, revision } = after;
  const late = await refusalOf(forge.calls.submitSegment({ n: 2, commit: head, revision }));
  const passes = await Promise.all(before.passes.map(({ evaluationKey }) => stack.operator.showGate(evaluationKey)));
  const { state: resumed } = await untilPhase(stack, ID, ['segment_review']);
  return { before, after, late, standings: passes.map(({ standing }) => standing.applicability), resumed };
}

function killAll({ place }: Acting): void {
  const processes: unknown = JSON.parse(readFileSync(place.pids, 'utf8'));
  if (!Array.isArray(processes)) throw new Error('the workspace has no pids');
  for (const identity of processes.toReversed()) {
    const pid: unknown = Reflect.get(Object(identity), 'pid');
    if (typeof pid === 'number') process.kill(pid, 'SIGKILL');
  }
}

async function now(stack: Stack): Promise<TicketState> {
  return (await stack.operator.getTicket(ID)).ticket.state;
}
