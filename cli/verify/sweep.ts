/** Removes what verifications left behind that were killed: their directories, and the credentials of their pairs. */
import { deadSessions, removeSession, stripSession, type DeadSession } from '../../local/sessions.ts';
import { asPortcullisError } from '../../schemas/errors.ts';
import type { CliContext } from '../context.ts';
import type { Output } from '../output.ts';
import { cleanUp } from './clean-up.ts';
import { whilePairIsFree } from './pair-lock.ts';

export type ClosePair = (pair: string) => Promise<unknown>;

/** Never throws: what cannot be swept now is said, and swept by the next. */
export async function sweepSessions(
  { paths, output }: Pick<CliContext, 'paths'> & { readonly output: Pick<Output, 'progress'> },
  closePair: ClosePair,
): Promise<void> {
  for (const session of await deadSessions(paths.workspaces)) {
    const undone = `What a killed verification left in ${session.directory} is not swept yet`;
    await cleanUp(output, [{ undone, run: () => sweep(paths.root, session, closePair) }]);
  }
}

async function sweep(root: string, { directory, pair }: DeadSession, closePair: ClosePair): Promise<void> {
  // First what lies on the disk: the gateway may be away, and the record of the pair stays until it answers.
  await stripSession(directory);
  // A verification that runs in this pair now closes it at its own end.
  if (pair !== null) await whilePairIsFree(root, pair, () => closed(pair, closePair));
  await removeSession(directory);
}

async function closed(pair: string, closePair: ClosePair): Promise<void> {
  try {
    await closePair(pair);
  } catch (thrown) {
    // The store was emptied since: its credentials went with it.
    if (asPortcullisError(thrown).code !== 'not_found') throw thrown;
  }
}
