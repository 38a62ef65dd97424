/** One supervisor for one state directory. */
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { portcullisError } from '../schemas/errors.ts';
import { identify, lives, type ProcessIdentity } from './processes.ts';

/**
 * Takes the lock for this process.
 * @returns `null` when it was taken, otherwise the process that holds it and lives.
 */
export function takeLock(file: string): ProcessIdentity | null {
  const self = identify(process.pid);
  if (self === null) throw portcullisError('internal');
  const staging = `${file}.${process.pid}`;
  writeFileSync(staging, JSON.stringify(self), { mode: 0o600 });
  try {
    for (;;) {
      if (linked(staging, file)) return null;
      const holder = lockHolder(file);
      if (holder !== null) return holder;
      rmSync(file, { force: true });
    }
  } finally {
    rmSync(staging, { force: true });
  }
}

/** The living process that holds the lock. */
export function lockHolder(file: string): ProcessIdentity | null {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const pid: unknown = Reflect.get(Object(value), 'pid');
    const started: unknown = Reflect.get(Object(value), 'started');
    if (typeof pid !== 'number' || typeof started !== 'string') return null;
    return lives({ pid, started }) ? { pid, started } : null;
  } catch {
    return null;
  }
}

export function releaseLock(file: string): void {
  if (lockHolder(file)?.pid === process.pid) rmSync(file, { force: true });
}

/** A link carries its content from its first moment, which a created and then written file does not. */
function linked(staging: string, file: string): boolean {
  try {
    linkSync(staging, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
