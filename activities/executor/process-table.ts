/** Looks at this machine's processes through /proc: who descends from whom, and whether one is gone. */
import { readdir, readFile } from 'node:fs/promises';

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

/** `null` when there is no such process. */
export async function readProcess(pid: number): Promise<ProcessEntry | null> {
  let stat: string;
  try {
    stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The name stands in parentheses and may hold anything, parentheses included: read from the last one.
  const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { pid, parent: Number(parent), state };
}

/** Gone, or dead and only not yet reaped: the first process of a pid namespace is that only after every other one is gone. */
export async function hasEnded(pid: number): Promise<boolean> {
  const entry = await readProcess(pid);
  return entry === null || entry.state === 'Z' || entry.state === 'X';
}

/** Every process below this one, by parent. */
export async function descendantsOf(root: number): Promise<readonly number[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const entries = await Promise.all(names.map((name) => readProcess(Number(name))));
  const children = new Map<number, number[]>();
  for (const entry of entries) {
    if (entry !== null) children.set(entry.parent, [...(children.get(entry.parent) ?? []), entry.pid]);
  }
  const found: number[] = [];
  const open = [root];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const child of children.get(next) ?? []) {
      found.push(child);
      open.push(child);
    }
  }
  return found;
}

/** Signals a process that may have ended meanwhile. */
export function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone, which is what was wanted.
  }
}
