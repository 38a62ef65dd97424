/**
 * The scripted agent as the command of a turn: it works from what its harness says is asked and from what it reads in its
 * checkout. The prompt is for models; of it, it knows only the last request before its workspace goes.
 */
import { text } from 'node:stream/consumers';
import { asPortcullisError } from '../../../../schemas/errors.ts';
import type { Assignment } from '../../../../schemas/harness-api.ts';
import { PUSH_REQUEST } from '../../../../schemas/workspace/push.ts';
import { harnessCallsOf } from '../../../../workers/agent/calls.ts';
import { HARNESS_VARIABLE } from '../../../../workers/agent/turn.ts';
import { workAsForge, type Desk } from './forge.ts';
import { workAsLore } from './lore.ts';
import { commitAndPush, gitIn } from './repository.ts';
import { workAsSentinel } from './sentinel.ts';

async function work(): Promise<string> {
  const directory = process.cwd();
  const calls = await harnessCallsOf(process.env[HARNESS_VARIABLE] ?? '');
  const desk: Desk = { directory, git: gitIn(directory), calls, say: (text) => process.stderr.write(`${text}\n`) };
  const context = await calls.context();
  if (context.assignment !== null && (await isAskedToPush())) return pushWhatIsThere(desk, context.assignment);
  if (context.role === 'sentinel') return workAsSentinel(desk, context);
  if (context.assignment === null) return 'Nothing is asked of this workspace.';
  if (context.role === 'forge') return workAsForge(desk, context.assignment);
  if (context.role === 'lore') return workAsLore(desk, context.assignment);
  return `No work is scripted for ${context.role}.`;
}

async function isAskedToPush(): Promise<boolean> {
  return (await text(process.stdin)).startsWith(PUSH_REQUEST);
}

/** Unfinished or not: whoever goes on can look at it. */
async function pushWhatIsThere({ git }: Desk, { branch }: Assignment): Promise<string> {
  const commit = await commitAndPush(git, branch, 'Unfinished work, pushed before the workspace ended');
  return `Pushed what was there (${commit.slice(0, 12)}).`;
}

try {
  process.stdout.write(`${await work()}\n`);
} catch (thrown) {
  const error = asPortcullisError(thrown);
  const cause = error.code === 'internal' && thrown instanceof Error ? `: ${thrown.message}` : '';
  process.stderr.write(`${error.code}: ${error.message}${cause}\n`);
  process.exitCode = error.edge.exit;
}
