/** Replays histories and says which of them today's workflows would not have written. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { cachedWorkflowBundle } from '../../local/bundle-cache.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { Output } from '../output.ts';
import { replayAll, type NamedHistory } from './replay-all.ts';

/**
 * @returns the exit code of `replay_failed` when a history differs: which one is in the result, so it is no error of its own
 * @throws `not_found` without such a directory or without histories in it, `history_invalid`
 */
export async function replayDirectory(directory: string, cacheDirectory: string, output: Output): Promise<number> {
  const histories = await readHistories(directory, await historyFiles(directory));
  // A history that does not replay is reported below; the SDK would print it a second time.
  Runtime.install({ logger: new DefaultLogger('ERROR', () => {}) });
  const workflowBundle = await cachedWorkflowBundle(cacheDirectory);
  const items: { readonly history: string; readonly replays: boolean; readonly error: string | null }[] = [];
  for await (const { name, error } of replayAll(workflowBundle, histories)) {
    items.push({ history: name, replays: error === null, error: error?.message ?? null });
    const mark = error === null ? output.style('good', 'replays') : output.style('bad', 'differs');
    output.progress(`${mark}  ${name}${error === null ? '' : `: ${error.message}`}`);
  }
  const failed = items.filter(({ replays }) => !replays).length;
  output.result(
    'Replay',
    { total: items.length, failed, items },
    `${items.length - failed} of ${items.length} histories replay.`,
  );
  if (failed === 0) return 0;
  const { message, mend, edge } = portcullisError('replay_failed', { failed, total: items.length });
  output.progress(`${output.style('bad', 'error replay_failed')}: ${message}\n${mend}`);
  return edge.exit;
}

async function historyFiles(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    throw portcullisError('not_found', { what: 'directory', id: directory }, error);
  });
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .toSorted();
  if (files.length === 0) throw portcullisError('not_found', { what: 'history in', id: directory });
  return files;
}

/** All of them before the first is replayed: a file that is no history must not end the replay half-way. */
async function readHistories(directory: string, files: readonly string[]): Promise<readonly NamedHistory[]> {
  const histories: NamedHistory[] = [];
  for (const file of files) {
    try {
      const history = historyFromJSON(JSON.parse(await readFile(join(directory, file), 'utf8')));
      if (history.events === undefined || history.events === null || history.events.length === 0) {
        throw new Error('it has no events');
      }
      histories.push({ name: file, history });
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown';
      throw portcullisError('history_invalid', { file, reason }, error);
    }
  }
  return histories;
}
