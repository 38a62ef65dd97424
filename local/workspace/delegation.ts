/** Whether workspaces on this machine get a cgroup, found out by delegating one once. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';

const run = promisify(execFile);
const answer = z.strictObject({ version: z.union([z.literal(1), z.literal(2)]).nullable(), reason: z.string() });

export interface TriedDelegation {
  /** `null` when nothing can be delegated. */
  readonly delegated: { readonly version: 1 | 2 } | null;
  /** Why not; empty otherwise. */
  readonly reason: string;
}

/** Never throws: without Python there is no workspace at all, which another check says. */
export async function tryDelegation(): Promise<TriedDelegation> {
  const script = fileURLToPath(new URL('cgroups.py', import.meta.url));
  try {
    const { stdout } = await run('python3', ['-E', '-s', '-S', '-B', script], { timeout: 10_000 });
    const { version, reason } = answer.parse(JSON.parse(stdout));
    return { delegated: version === null ? null : { version }, reason };
  } catch {
    return { delegated: null, reason: 'it could not be tried' };
  }
}
