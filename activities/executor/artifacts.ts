/** Hashes the artifacts that a request expects, after the run. */
import type { ArtifactStatement } from '../../schemas/verify/report.ts';
import { hashStream } from '../content/hasher.ts';
import { safeFiles } from './safe-files.ts';

export interface ArtifactFindings {
  readonly found: readonly ArtifactStatement[];
  readonly missing: readonly string[];
}

/** A path that is a link, or leads through one, is missing: its bytes would be somebody else's. */
export async function hashArtifacts(root: string, paths: readonly string[]): Promise<ArtifactFindings> {
  const found: ArtifactStatement[] = [];
  const missing: string[] = [];
  const files = safeFiles(root);
  for (const path of paths) {
    const file = await files.open(path);
    if (file === null) missing.push(path);
    else found.push({ path, ...(await hashStream(file.createReadStream())) });
  }
  return { found, missing };
}
