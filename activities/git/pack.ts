/** Takes the pack of a bundle into a repository of our own, each object checked. The bundle's other claims are not believed. */
import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { portcullisError } from '../../schemas/errors.ts';
import { GIT_ENVIRONMENT, GIT_SETTINGS } from './run.ts';

export interface BundleHeader {
  /** The commits that the bundle names. */
  readonly tips: ReadonlySet<string>;
  /** Where the pack begins, bytes. */
  readonly packOffset: number;
}

/** Some hundred refs; whoever uploads more is asked for fewer. */
const MAX_HEADER_BYTES = 64 * 1024;
const TAKE_IN_MS = 5 * 60_000;

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
 * @throws `repository_invalid` with git's last complaint
 */
export async function takeInPack(gitDir: string, bundle: string, offset: number): Promise<void> {
  const whole = `--strict=${TOLERATED_FAULTS.map((id) => `${id}=ignore`).join(',')}`;
  if ((await indexPack(gitDir, bundle, offset, whole)) === null) return;
  const said = await indexPack(gitDir, bundle, offset, '--fsck-objects');
  if (said !== null) throw portcullisError('repository_invalid', { path: 'the bundle', reason: said });
}

/** `null` when the pack is in, otherwise git's last complaint. */
async function indexPack(gitDir: string, bundle: string, offset: number, check: string): Promise<string | null> {
  const child = spawn('git', [...GIT_SETTINGS, `--git-dir=${gitDir}`, 'index-pack', '--stdin', check], {
    env: GIT_ENVIRONMENT,
    stdio: ['pipe', 'ignore', 'pipe'],
    timeout: TAKE_IN_MS,
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
  return complaint.trim().split('\n').at(-1)?.slice(0, 200) || 'git could not read its pack';
}
