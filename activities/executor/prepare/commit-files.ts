/** The tree under test as a plan reads it: plain files, bounded, no link followed. */
import { basename } from 'node:path';
import type { ExportedTree } from '../checkout.ts';
import { readInside } from '../safe-files.ts';
import type { CommitFiles } from './types.ts';

/** Larger lockfiles are none that anybody reviews. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_NAMED = 2_000;

/** @param work its own real path; no process of the command runs yet */
export function commitFiles(work: string, exported: ExportedTree | null): CommitFiles {
  return {
    read: (path) => readInside(work, path, MAX_BYTES),
    named: (name) =>
      (exported?.entries ?? [])
        .map(({ path }) => path)
        .filter((path) => basename(path) === name)
        .slice(0, MAX_NAMED),
  };
}
