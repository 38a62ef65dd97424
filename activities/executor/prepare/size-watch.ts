/** Watches how many bytes a preparation writes, and ends it when there are too many: an archive says nothing of what is in it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Files count for this much each, or empty ones would be free. */
const FILE_BYTES = 512;
const FIRST_MS = 300;
/** Looking costs time that grows with the tree; it may take at most this part of it. */
const SHARE = 6;

export interface SizeWatch {
  /** Aborted when there is too much. */
  readonly exceeded: AbortSignal;
  /** Ends the watch and looks once more. */
  end(): Promise<number>;
}

export function watchSize(directory: string, maxBytes: number): SizeWatch {
  const exceeded = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  async function look(): Promise<number> {
    const began = performance.now();
    const bytes = await sizeOf(directory);
    if (bytes > maxBytes) exceeded.abort();
    else if (!ended) timer = setTimeout(() => void look(), Math.max(FIRST_MS, (performance.now() - began) * SHARE));
    return bytes;
  }

  timer = setTimeout(() => void look(), FIRST_MS);
  return {
    exceeded: exceeded.signal,
    end: () => {
      ended = true;
      clearTimeout(timer);
      return look();
    },
  };
}

/** Bytes that a tree takes, sparse ones as they are stored. What cannot be read counts as nothing. */
export async function sizeOf(directory: string): Promise<number> {
  const [bytes, files] = await Promise.all([
    du(directory, ['-s', '--block-size=1']),
    du(directory, ['-s', '--inodes']),
  ]);
  return bytes + files * FILE_BYTES;
}

async function du(directory: string, options: readonly string[]): Promise<number> {
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' };
  // It ends with 1 when a file went away under it, and has still counted the others.
  const said = await run('du', [...options, '--', directory], { env, timeout: 60_000 }).catch((error: unknown) => ({
    stdout: String(Reflect.get(Object(error), 'stdout') ?? ''),
  }));
  return Number(/^\d+/.exec(said.stdout)?.[0] ?? 0);
}
