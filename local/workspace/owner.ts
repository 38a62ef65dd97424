/** Who lives in a workspace, and files that are theirs alone. */
import { chown, writeFile } from 'node:fs/promises';

/** The user inside when this process is root: nobody's on this machine, above what distributions give to people and services. */
const WORKSPACE_UID = 61_440;

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export function ownerInside(): Owner {
  const uid = process.getuid?.() ?? 0;
  return uid === 0 ? { uid: WORKSPACE_UID, gid: WORKSPACE_UID } : { uid, gid: process.getgid?.() ?? uid };
}

/** A file that only the workspace's user can read. */
export async function writePrivate(path: string, text: string, owner: Owner): Promise<void> {
  await writeFile(path, text, { mode: 0o600 });
  await give(path, owner);
}

/** Nothing when this process is an ordinary user: then it is that user who lives there. */
export async function give(path: string, { uid, gid }: Owner): Promise<void> {
  if (process.getuid?.() === 0) await chown(path, uid, gid);
}
