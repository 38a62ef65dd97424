/** Replays histories and says which of them today's workflows would not have written. */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { DefaultLogger, Runtime, Worker, type ReplayHistoriesIterable } from '@temporalio/worker';
import { cachedWorkflowBundle } from '../../local/bundle-cache.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { Output } from '../output.ts';

/** @throws `not_found` without such a directory or without histories in it, `replay_failed` */
export async function replayDirectory(directory: string, cacheDirectory: string, output: Output): Promise<number> {
  const files = await historyFiles(directory);
  // A history that does not replay is reported below; the SDK would print it a second time.
  Runtime.install({ logger: new DefaultLogger('ERROR', () => {}) });
  const workflowBundle = await cachedWorkflowBundle(cacheDirectory);
  const items: { readonly history: string; readonly replays: boolean; readonly error: string | null }[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories(
    { workflowBundle },
    histories(directory, files),
  )) {
    items.push({ history: workflowId, replays: error === undefined, error: error?.message ?? null });
    const mark = error === undefined ? output.style('good', 'replays') : output.style('bad', 'differs');
    output.progress(`${mark}  ${workflowId}${error === undefined ? '' : `: ${error.message}`}`);
  }
  const failed = items.filter(({ replays }) => !replays).length;
  output.result(
    'Replay',
    { total: items.length, failed, items },
    `${items.length - failed} of ${items.length} histories replay.`,
  );
  if (failed > 0) throw portcullisError('replay_failed', { failed, total: items.length });
  return 0;
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

async function* histories(directory: string, files: readonly string[]): AsyncGenerator<HistoryOf> {
  for (const file of files) {
    try {
      const history = JSON.parse(await readFile(join(directory, file), 'utf8')) as HistoryOf['history'];
      yield { workflowId: file, history };
    } catch (error) {
      throw portcullisError('json_malformed', { reason: `${file} is not a history` }, error);
    }
  }
}

type HistoryOf = ReplayHistoriesIterable extends AsyncIterable<infer T> | Iterable<infer T> ? T : never;
