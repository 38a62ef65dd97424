/**
 * Processes by identity, never by name: a pid is only believed together with the moment its process started, because the
 * kernel gives a pid again.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** One process that ran, or runs. `started` is opaque: equal for the same process, different for every other of that pid. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly started: string;
}

/** What the process of this pid is now; `null` when there is none (a zombie is none: it only waits to be reaped). */
export function identify(pid: number): ProcessIdentity | null {
  if (process.platform === 'linux') return identifyByProc(pid);
  try {
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
    return started === '' ? null : { pid, started };
  } catch {
    return null;
  }
}

/** True while exactly this process runs. */
export function lives(identity: ProcessIdentity): boolean {
  return identify(identity.pid)?.started === identity.started;
}

/**
 * Asks the process to end and kills it when it has not after `graceMs`. Nothing is signalled when the pid belongs to
 * another process by now.
 */
export async function stop(identity: ProcessIdentity, graceMs: number): Promise<'absent' | 'ended' | 'killed'> {
  if (!lives(identity)) return 'absent';
  signal(identity, 'SIGTERM');
  if (await endedWithin(identity, graceMs)) return 'ended';
  signal(identity, 'SIGKILL');
  await endedWithin(identity, 5_000);
  return 'killed';
}

/** True as soon as the process is gone; false when it still runs after `ms`. */
export async function endedWithin(identity: ProcessIdentity, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (lives(identity)) {
    if (performance.now() >= deadline) return false;
    await delay(20);
  }
  return true;
}

/** Sends the signal to exactly this process; nothing when it is gone. */
export function signal(identity: ProcessIdentity, name: NodeJS.Signals): void {
  if (!lives(identity)) return;
  try {
    process.kill(identity.pid, name);
  } catch {
    // It ended between the look and the signal.
  }
}

function identifyByProc(pid: number): ProcessIdentity | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command in parentheses may hold spaces and parentheses itself, so fields are counted from the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state] = fields;
    const startTicks = fields[19];
    if (startTicks === undefined || state === 'Z' || state === 'X') return null;
    return { pid, started: `${bootId()}:${startTicks}` };
  } catch {
    return null;
  }
}

/** Start times count from the boot: after another boot the same number is another process. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'unknown-boot';
  }
}
