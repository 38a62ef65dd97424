/** Where the compute of a workspace is on this machine. What a workspace can write lies below one directory of it only. */
import { join } from 'node:path';
import { contentDigest, digestHex } from '../../../schemas/digest.ts';
import { portcullisError } from '../../../schemas/errors.ts';

export interface Place {
  readonly directory: string;
  /** What is kept of the compute, and the pids of its processes. */
  readonly record: string;
  readonly pids: string;
  /** The workspace's own directory: inside, `/workspace`. */
  readonly workspace: string;
  /** The socket that its harness listens on. */
  readonly channel: string;
}

const ID = /^[A-Za-z0-9-]{1,64}$/;
/** The kernel takes 107 bytes. */
const LONGEST_SOCKET = 104;

export function computeRoot(root: string): string {
  return join(root, 'compute');
}

/** @throws `schema_invalid` for an id that cannot be a directory, `setting_invalid` when the root's path is too long */
export function placeOf(root: string, workspaceId: string): Place {
  if (!ID.test(workspaceId)) {
    throw portcullisError('schema_invalid', { path: 'workspace id', reason: `must match ${ID.source}` });
  }
  const directory = join(computeRoot(root), workspaceId);
  const short = digestHex(contentDigest(new TextEncoder().encode(workspaceId))).slice(0, 12);
  const channel = join(root, 's', short);
  if (Buffer.byteLength(channel) > LONGEST_SOCKET) {
    throw portcullisError('setting_invalid', { name: 'runtime directory', reason: 'is too long a path for a socket' });
  }
  return {
    directory,
    record: join(directory, 'compute.json'),
    pids: join(directory, 'pids.json'),
    workspace: join(directory, 'workspace'),
    channel,
  };
}
