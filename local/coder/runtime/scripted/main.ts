/**
 * The scripted agent as the command of a turn: it works from what its harness says is asked and from what it reads in its
 * checkout. The prompt is for models; it reads none of it.
 */
import { asPortcullisError } from '../../../../schemas/errors.ts';
import { harnessCallsOf } from '../../../../workers/agent/calls.ts';
import { HARNESS_VARIABLE } from '../../../../workers/agent/turn.ts';
import { workAsForge, type Desk } from './forge.ts';
import { workAsLore } from './lore.ts';
import { gitIn } from './repository.ts';
import { workAsSentinel } from './sentinel.ts';

async function work(): Promise<string> {
  const directory = process.cwd();
  const calls = await harnessCallsOf(process.env[HARNESS_VARIABLE] ?? '');
  const desk: Desk = { directory, git: gitIn(directory), calls, say: (text) => process.stderr.write(`${text}\n`) };
  const context = await calls.context();
  if (context.role === 'sentinel') return workAsSentinel(desk, context);
  if (context.assignment === null) return 'Nothing is asked of this workspace.';
  if (context.role === 'forge') return workAsForge(desk, context.assignment);
  if (context.role === 'lore') return workAsLore(desk, context.assignment);
  return `No work is scripted for ${context.role}.`;
}

try {
  process.stdout.write(`${await work()}\n`);
} catch (thrown) {
  const error = asPortcullisError(thrown);
  const cause = error.code === 'internal' && thrown instanceof Error ? `: ${thrown.message}` : '';
  process.stderr.write(`${error.code}: ${error.message}${cause}\n`);
  process.exitCode = error.edge.exit;
}
