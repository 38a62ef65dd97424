/**
 * Takes the pack of a bundle into a repository of our own, each object checked. The bundle's other claims are not believed. It
 * is checked in a directory of its own, so that what is refused leaves nothing.
 */
import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { portcullisError } from '../../schemas/errors.ts';
import { requireDiskSpace } from './disk.ts';
import { clearLeftOvers, QUARANTINE_PREFIX } from './left-overs.ts';
import { GIT_ENVIRONMENT, GIT_SETTINGS } from './run.ts';
import { shortened } from '../../schemas/text.ts';

export interface BundleHeader {
  /** The commits that the bundle names. */
  readonly tips: ReadonlySet<string>;
  /** Where the pack begins, bytes. */
  readonly packOffset: number;
}

/** Some hundred refs; whoever uploads more is asked for fewer. */
const MAX_HEADER_BYTES = 64 * 1024;
/** For any pack, and then for each gigabyte of it. */
const TAKE_IN_MS = 5 * 60_000;
const TAKE_IN_MS_PER_GIB = 60_000;
/** What checks objects could be made to hold gigabytes by a few kilobytes of them. */
const MEMORY_KIB = 8 * 1024 * 1024;

/** Large files are copied and not held; of packs that are there only so much is mapped. */
const BOUNDED = ['core.bigFileThreshold=16m', 'core.packedGitLimit=1g', 'core.packedGitWindowSize=128m'].flatMap(
  (setting) => ['-c', setting],
);

/**
 * Faults that bundles of real repositories carry and that harm nobody; what could make git itself misbehave stays an error.
 * https://git-scm.com/docs/git-fsck#_fsck_messages
 */
export const TOLERATED_FAULTS = [
  'zeroPaddedFilemode',
  'badTimezone',
  'missingSpaceBeforeDate',
  'missingNameBeforeEmail',
  'missingEmail',
];

/** @throws `repository_invalid` when it is no bundle, or one that presupposes commits */
export async function readBundleHeader(file: string): Promise<BundleHeader> {
  const handle = await open(file, 'r').catch((thrown: unknown) => {
    throw portcullisError('repository_invalid', { path: 'the bundle', reason: 'it is not there' }, thrown);
  });
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_HEADER_BYTES), 0, MAX_HEADER_BYTES, 0);
    const text = buffer.toString('latin1', 0, bytesRead);
    // Signature, capabilities that change nothing for us, refs; a line that begins with `-` would presuppose a commit.
    const match = /^# v[23] git bundle\n(?:@object-format=sha(?:1|256)\n)?((?:[0-9a-f]{40,64} [^\n]+\n)+)\n/.exec(text);
    if (match?.[1] === undefined) {
      throw portcullisError('repository_invalid', { path: 'the bundle', reason: 'it is no bundle that stands alone' });
    }
    const tips = match[1].split('\n').flatMap((line) => line.split(' ')[0] ?? []);
    return { tips: new Set(tips), packOffset: match[0].length };
  } finally {
    await handle.close();
  }
}

/**
 * Checks every object and, where history is whole, that none is missing. A shallow clone lacks parents by its nature, which
 * the first way refuses; what it lacks is then for `completeHistory` to judge.
 * @throws `repository_invalid` with git's last complaint, `disk_full`
 */
export async function takeInPack(gitDir: string, bundle: string, offset: number): Promise<void> {
  const { size } = await stat(bundle);
  await clearLeftOvers(gitDir);
  await requireDiskSpace(gitDir, size);
  const whole = `--strict=${TOLERATED_FAULTS.map((id) => `${id}=ignore`).join(',')}`;
  const taking = { gitDir, bundle, offset, size };
  if ((await checkedIn(taking, whole)) === null) return;
  const said = await checkedIn(taking, '--fsck-objects');
  if (said !== null) throw portcullisError('repository_invalid', { path: 'the bundle', reason: said });
}

interface Taking {
  readonly gitDir: string;
  readonly bundle: string;
  readonly offset: number;
  /** Of the bundle, bytes. */
  readonly size: number;
}

/** `null` when the pack is in, otherwise git's last complaint. */
async function checkedIn(taking: Taking, check: string): Promise<string | null> {
  const objects = join(taking.gitDir, 'objects');
  const quarantine = await mkdtemp(join(objects, QUARANTINE_PREFIX));
  try {
    await mkdir(join(quarantine, 'pack'));
    const said = await indexPack(taking, check, { quarantine, objects });
    if (said === null) await release(join(quarantine, 'pack'), join(objects, 'pack'));
    return said;
  } finally {
    await rm(quarantine, { recursive: true, force: true });
  }
}

/** The index comes last: git sees a pack when its index is there. Marked, so that it is never packed together with pushes. */
async function release(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  const names = await readdir(from);
  for (const pack of names.filter((name) => name.endsWith('.pack'))) {
    await writeFile(join(to, pack.replace(/\.pack$/, '.keep')), 'import\n');
  }
  for (const name of names.toSorted((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')))) {
    await rename(join(from, name), join(to, name));
  }
}

async function indexPack(
  { gitDir, bundle, offset, size }: Taking,
  check: string,
  { quarantine, objects }: { readonly quarantine: string; readonly objects: string },
): Promise<string | null> {
  const args = [...GIT_SETTINGS, ...BOUNDED, `--git-dir=${gitDir}`, 'index-pack', '--stdin', check];
  const child = spawn('/bin/sh', ['-c', `ulimit -v ${MEMORY_KIB}; exec git "$@"`, 'git', ...args], {
    env: {
      ...GIT_ENVIRONMENT,
      GIT_OBJECT_DIRECTORY: quarantine,
      // In git's own quotes: a colon in a path would part it.
      GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${objects.replaceAll(/["\\]/g, '\\$&')}"`,
    },
    stdio: ['pipe', 'ignore', 'pipe'],
    timeout: TAKE_IN_MS + Math.ceil(size / 2 ** 30) * TAKE_IN_MS_PER_GIB,
    killSignal: 'SIGKILL',
  });
  let complaint = '';
  child.stderr.on('data', (chunk: Buffer) => (complaint = `${complaint}${chunk.toString('utf8')}`.slice(-2048)));
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.once('error', reject);
  child.once('close', (code) => resolve(code ?? 1));
  // Git may refuse before it has read all; how it ended says so.
  const fed = pipeline(createReadStream(bundle, { start: offset }), child.stdin).catch(() => {});
  const [code] = await Promise.all([promise, fed]);
  if (code === 0) return null;
  return shortened(complaint.trim().split('\n').at(-1) ?? '', 200) || 'git could not read its pack';
}
