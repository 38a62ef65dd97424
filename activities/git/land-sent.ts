/**
 * What was sent to a branch and not answered: it may still arrive, in an attempt that knows nothing of the one that sent it. So
 * each attempt leaves a mark in the repository before it sends, and takes it away once that is answered: marks outlive activities
 * and workers.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { portcullisError } from '../../schemas/errors.ts';
import { checkedCommit } from '../../schemas/git/refs.ts';
import { SEND_MS } from './remote.ts';

/** After so long what was sent has arrived or never will: git was ended, and whoever received it has had as long again. */
export const SETTLING_MS = 2 * SEND_MS;

/** The marks of one candidate, as one attempt to land it sees them. */
export interface SentMark {
  /** Whether something that another attempt sent may still arrive. */
  pending(): Promise<boolean>;
  /** Something is about to be sent, or may be from now on. @throws `repository_invalid` */
  sending(): Promise<void>;
  /** Nothing was sent, or it was answered. */
  answered(): Promise<void>;
}

/** Below the repository: a directory for each candidate, in it a file for each attempt, last written when it sent. */
export function sentMark(gitDir: string, candidate: string): SentMark {
  const all = join(gitDir, 'portcullis-sent');
  const directory = join(all, checkedCommit(candidate));
  const own = join(directory, randomUUID());
  return {
    async pending() {
      let found = false;
      for (const name of await unlessMissing(readdir(directory), [])) {
        const path = join(directory, name);
        const at = await unlessMissing(
          stat(path).then(({ mtimeMs }) => mtimeMs),
          null,
        );
        if (path === own || at === null) continue;
        if (Date.now() - at < SETTLING_MS) found = true;
        else await rm(path, { force: true });
      }
      return found;
    },
    async sending() {
      const now = Date.now() / 1000;
      await made(all);
      await made(directory);
      await writeFile(own, '');
      await utimes(own, now, now);
    },
    answered: () => rm(own, { force: true }),
  };
}

/** Nothing above it: a repository that is away is not begun anew. */
async function made(directory: string): Promise<void> {
  try {
    await mkdir(directory);
  } catch (thrown) {
    if (hasCode(thrown, 'EEXIST')) return;
    throw portcullisError('repository_invalid', { path: 'the repository', reason: String(thrown) });
  }
}

async function unlessMissing<T>(asked: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await asked;
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return otherwise;
    throw thrown;
  }
}

function hasCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code;
}
