/**
 * What a tree holds of the disk, counted by `find`, which goes from directory to directory and follows no link, however deep they
 * are and whoever moves them.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface TreeSize {
  readonly bytes: number;
  /** Directories and links among them. */
  readonly files: number;
  /** There are directories that this process may not read: what is in them is not counted. */
  readonly hidden: boolean;
}

export interface TreeMeasure {
  readonly find: string;
  readonly directory: string;
  /** Nothing is counted further once it is more than this. */
  readonly atMost: Pick<TreeSize, 'bytes' | 'files'>;
}

export async function measureTree({ find, directory, atMost }: TreeMeasure, signal: AbortSignal): Promise<TreeSize> {
  const child = spawn(find, [directory, '-xdev', '-printf', '%b %n %i\n'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { LC_ALL: 'C' },
    cwd: '/',
    signal,
    killSignal: 'SIGKILL',
  });
  const gone = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
  let hidden = false;
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    hidden ||= part.includes('Permission denied');
  });
  const linked = new Set<string>();
  let bytes = 0;
  let files = 0;
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const [blocks = '0', links = '1', inode = ''] = line.split(' ');
      files += 1;
      // A file of many names is on the disk once.
      if (links === '1' || !linked.has(inode)) bytes += Number(blocks) * 512;
      if (links !== '1') linked.add(inode);
      if (bytes > atMost.bytes || files > atMost.files) break;
    }
  } finally {
    child.kill('SIGKILL');
    await gone;
  }
  return { bytes, files, hidden };
}
