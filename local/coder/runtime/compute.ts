/**
 * The compute of a workspace as this machine has it: a record that is written before the first process is started, the pids
 * that the first process wrote itself, and what of them is alive. The server can be killed at any moment; nothing is lost.
 */
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { removeTree } from '../../../activities/executor/run-directory.ts';
import { ROLES } from '../../../schemas/names.ts';
import { endedWithin, lives, signal, type ProcessIdentity } from '../../processes.ts';
import { computeRoot, placeOf, type Place } from './place.ts';

const recordDocument = z.strictObject({
  schema: z.literal('portcullis/compute/v1'),
  workspaceId: z.string(),
  /** The run parameter: what a sweep looks for. */
  run: z.string(),
  agentId: z.string(),
  buildNumber: z.int(),
  name: z.string(),
  /** `null`: the template is none of ours, so nothing runs in it but a process that waits. */
  role: z.enum(ROLES).nullable(),
  /** Whether its agent ever connects. */
  connects: z.boolean(),
  startExit: z.int().nullable(),
});

export type ComputeRecord = z.infer<typeof recordDocument>;

export interface FoundCompute {
  readonly record: ComputeRecord;
  readonly place: Place;
}

const pidsDocument = z.array(z.object({ pid: z.int().positive(), started: z.string() }));

/** How long the first process has to end in order. */
const GRACE_MS = 7_000;
const ASK_MS = 200;
const KILL_MS = 5_000;

export async function writeCompute(place: Place, record: ComputeRecord): Promise<void> {
  await writeFile(`${place.record}.new`, JSON.stringify(record), { mode: 0o600 });
  await rename(`${place.record}.new`, place.record);
}

/** `null` when there is none, or only half of one: its first process was then never started. */
export async function readCompute(place: Place): Promise<ComputeRecord | null> {
  const parsed = recordDocument.safeParse(await jsonOf(place.record));
  return parsed.success ? parsed.data : null;
}

/** Every compute with a record, alive or not. */
export async function listCompute(root: string): Promise<readonly FoundCompute[]> {
  const ids = await readdir(computeRoot(root)).catch(() => []);
  const found = await Promise.all(
    ids.map(async (id) => {
      const place = placeOf(root, id);
      const record = await readCompute(place);
      return record === null ? [] : [{ record, place }];
    }),
  );
  return found.flat();
}

/** The outermost process and the workspace's first one, as far as they came. */
async function processesOf(place: Place): Promise<readonly ProcessIdentity[]> {
  const parsed = pidsDocument.safeParse(await jsonOf(place.pids));
  return parsed.success ? parsed.data : [];
}

export async function isAlive(place: Place): Promise<boolean> {
  return (await processesOf(place)).some(lives);
}

/**
 * Ends every process of it: the first one is asked, unless it is to be `at once`, then killed, and the kernel ends whatever else
 * is in its pid namespace. True when something was alive.
 */
export async function endCompute(place: Place, how: 'in order' | 'at once' = 'in order'): Promise<boolean> {
  const processes = await processesOf(place);
  const alive = processes.filter(lives);
  if (alive.length === 0) return false;
  const [outermost, first] = processes;
  if (first !== undefined) {
    if (how === 'in order') await askToEnd(first);
    signal(first, 'SIGKILL');
  }
  // What is outside has nothing to do in order; it waits for the first process, or has not made it yet.
  if (outermost !== undefined) {
    if (first !== undefined) await endedWithin(outermost, 500);
    signal(outermost, 'SIGKILL');
  }
  await Promise.all(processes.map((one) => endedWithin(one, KILL_MS)));
  return true;
}

/** Asks again and again: the first process of a pid namespace does not even hear what comes before it is set up to. */
async function askToEnd(first: ProcessIdentity): Promise<void> {
  const deadline = performance.now() + GRACE_MS;
  do signal(first, 'SIGTERM');
  while (!(await endedWithin(first, ASK_MS)) && performance.now() < deadline);
}

/** Ends it and forgets it, directory included. True when something was alive. */
export async function removeCompute(place: Place): Promise<boolean> {
  const alive = await endCompute(place);
  await rm(place.channel, { force: true });
  await removeTree(place.directory);
  return alive;
}

async function jsonOf(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return null;
  }
}
