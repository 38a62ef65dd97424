/** Room on a disk, asked before much is written to it: a full disk stops more than whoever filled it. */
import { statfs } from 'node:fs/promises';
import { portcullisError } from '../../schemas/errors.ts';

/** What is left free for everything else that is written there. */
export const DISK_RESERVE_BYTES = 1024 * 1024 * 1024;

/** @throws `disk_full` when writing so many bytes below the directory would leave less than the reserve */
export async function requireDiskSpace(directory: string, bytes: number, reserve = DISK_RESERVE_BYTES): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free - bytes < reserve) throw portcullisError('disk_full', { free, needed: bytes + reserve });
}
