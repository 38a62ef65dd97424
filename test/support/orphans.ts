/**
 * Servers that tests start are recorded, so that the next run ends what a crashed run left behind (a killed test process
 * orphans its dev server). Recorded by pid and start time, never found by name.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { identify, lives, stop, type ProcessIdentity } from '../../local/processes.ts';

const DIRECTORY = join(tmpdir(), `portcullis-test-servers-${userInfo().uid}`);

/** A supervisor first stops what it supervises. */
const ORDERLY_MS = 20_000;

interface ServerRecord {
  readonly server: ProcessIdentity;
  readonly owner: ProcessIdentity;
}

/** Records a server that this process started; call the answer when it was stopped. */
export function recordServer(pid: number): () => void {
  const server = identify(pid);
  const owner = identify(process.pid);
  if (server === null || owner === null) return () => {};
  mkdirSync(DIRECTORY, { recursive: true, mode: 0o700 });
  const file = join(DIRECTORY, `${pid}.json`);
  writeFileSync(file, JSON.stringify({ server, owner } satisfies ServerRecord), { mode: 0o600 });
  return () => rmSync(file, { force: true });
}

/** Ends servers whose owner is gone. */
export async function reapOrphans(): Promise<void> {
  for (const name of recordNames()) {
    const file = join(DIRECTORY, name);
    const record = readRecord(file);
    if (record !== null && lives(record.owner)) continue;
    if (record !== null) await stop(record.server, ORDERLY_MS);
    rmSync(file, { force: true });
  }
}

function recordNames(): readonly string[] {
  try {
    return readdirSync(DIRECTORY);
  } catch {
    return [];
  }
}

function readRecord(file: string): ServerRecord | null {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is ServerRecord {
  return [Reflect.get(Object(value), 'server'), Reflect.get(Object(value), 'owner')].every(
    (identity) => typeof Reflect.get(Object(identity), 'pid') === 'number',
  );
}
