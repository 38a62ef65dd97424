/** FORGE pushes once more between the pass of the merge gate and the landing, while the remote is out of reach for a moment. */
import { mkdtempSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { TicketState } from '../../../schemas/ticket/state.ts';
import { WORKSPACE_PATHS } from '../../../schemas/workspace-api.ts';
import type { PuppetStack } from '../puppets.ts';
import { gitIn, landedSubjects, mainOf, ONE_SEGMENT, startTicket, untilPhase, untilTicket } from '../tickets.ts';
import { refusalOf } from './words.ts';

const ID = 'T-202';

export interface MovedHeadStory {
  /** While the landing was under way. */
  readonly intended: TicketState;
  /** What FORGE pushed then, and what its submission was answered. */
  readonly pushed: string;
  readonly submitted: string;
  readonly end: TicketState;
  readonly main: readonly string[];
  readonly subjects: readonly string[];
  /** Whether main of the remote has FORGE's late commit in it. */
  readonly hasPushed: boolean;
}

export async function movedHeadStory({ stack, acting }: PuppetStack): Promise<MovedHeadStory> {
  const { remote } = await startTicket(stack, ID, ONE_SEGMENT);
  await untilPhase(stack, ID, ['review_ready']);
  const forge = await acting(ID, 'forge', 1);
  // Not a repository for the moment: nothing lands, and nothing is refused for good.
  renameSync(join(remote, 'HEAD'), join(remote, 'HEAD.away'));
  const { state: intended } = await untilTicket(
    stack,
    ID,
    'to be landing',
    ({ state }) => state.merge?.state === 'intended' || state.stop !== null,
  );
  const { pushed, submitted } = await pushOnce();
  renameSync(join(remote, 'HEAD.away'), join(remote, 'HEAD'));
  const { state: end } = await untilPhase(stack, ID, ['done']);
  const all = gitIn(remote, 'rev-list', 'main').split('\n');
  return {
    intended,
    pushed,
    submitted,
    end,
    main: mainOf(remote),
    subjects: await landedSubjects(remote),
    hasPushed: all.includes(pushed),
  };

  /** With the bearer of FORGE's own workspace, over the gateway. */
  async function pushOnce() {
    const work = mkdtempSync(join(stack.root, 'forge-'));
    const url = `http://127.0.0.1:${stack.state().ports.gateway}${WORKSPACE_PATHS.repository('local', ID)}`;
    const { branch } = intended;
    const header = `http.extraHeader=Authorization: Bearer ${forge.bearer}`;
    const git = (...args: readonly string[]) => gitIn(work, '-c', header, ...args);
    git('clone', '-q', '--branch', branch, url, '.');
    const own = ['-c', 'user.name=f', '-c', 'user.email=f@example.com', 'commit', '-q', '--allow-empty'];
    git(...own, '-m', 'One more thing');
    git('push', '-q', 'origin', `HEAD:refs/heads/${branch}`);
    const commit = git('rev-parse', 'HEAD');
    const { assignment } = await forge.calls.context();
    const revision = assignment?.revision ?? intended.revision;
    return { pushed: commit, submitted: await refusalOf(forge.calls.submitReady({ commit, revision })) };
  }
}
