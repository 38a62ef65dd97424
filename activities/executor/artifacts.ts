/** Hashes the artifacts that a request expects, after the run. */
import { addAbortSignal } from 'node:stream';
import type { ArtifactStatement } from '../../schemas/verify/report.ts';
import { hashStream } from '../content/hasher.ts';
import { bytePathOf } from './byte-path.ts';
import { safeFiles } from './safe-files.ts';

export interface ArtifactFindings {
  readonly found: readonly ArtifactStatement[];
  readonly missing: readonly string[];
}

/** How much is read for artifacts, all of them together. One that does not fit in what is left of it is missing. */
export const MAX_ARTIFACT_BYTES = 1024 * 1024 * 1024;

/**
 * A path that is a link, or leads through one, is missing: its bytes would be somebody else's.
 * @throws the signal's reason when it is aborted meanwhile
 */
export async function hashArtifacts(
  root: string,
  paths: readonly string[],
  cancellation: AbortSignal,
): Promise<ArtifactFindings> {
  const found: ArtifactStatement[] = [];
  const missing: string[] = [];
  const files = safeFiles(root);
  let left = MAX_ARTIFACT_BYTES;
  for (const path of paths) {
    cancellation.throwIfAborted();
    const file = await files.open(bytePathOf(path));
    const size = file === null ? 0 : (await file.stat()).size;
    if (file === null || size > left) {
      missing.push(path);
      await file?.close();
    } else {
      left -= size;
      found.push({ path, ...(await hashStream(addAbortSignal(cancellation, file.createReadStream()))) });
    }
  }
  return { found, missing };
}
