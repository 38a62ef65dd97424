/**
 * Gets the pinned commit and exports it. The executor's own bare repository is the only git directory that is ever used; the
 * export is plain files, byte for byte as committed, and git never looks at it again once a command has run in it.
 */
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { portcullisError } from '../../schemas/errors.ts';
import { gitHashAlgorithm } from '../content/hasher.ts';
import type { BytePath } from './byte-path.ts';
import { GitFailure, runGit, type Git } from './git.ts';

export interface CommitSource {
  readonly git: Git;
  /** Where the executor keeps its bare repositories. */
  readonly directory: string;
  /** Base URL of the pair's repository at the gateway. */
  readonly url: string;
  readonly bearer: string;
}

export interface TreeEntry {
  readonly mode: string;
  readonly type: string;
  readonly id: string;
  /** Bytes of a file or of a link's target; `null` for a submodule, which is not exported. */
  readonly size: number | null;
  readonly path: BytePath;
}

export interface ExportedTree {
  /** Git's id of the commit's tree. */
  readonly tree: string;
  readonly entries: readonly TreeEntry[];
}

/** How long the gateway may be away while a fetch is wanted: a minute's outage loses no run. */
const FETCH_PATIENCE_MS = 75_000;
const GIT_MS = 120_000;
/** What one commit may be when it is written out: a few kilobytes of objects can name any number of files of any size. */
const MAX_EXPORT_BYTES = 2 * 1024 * 1024 * 1024;
const MAX_EXPORT_FILES = 200_000;

/**
 * Exports the commit into an empty directory.
 * @throws `failed_to_start` when it cannot be fetched or written, or is too large; {@link GitFailure} when it was cancelled meanwhile.
 */
export async function exportCommit(
  source: CommitSource,
  commit: string,
  destination: string,
  cancellation: AbortSignal,
): Promise<ExportedTree> {
  const repository = await ownRepository(source, commit, cancellation);
  const git = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
    runGit(source.git, { args: [`--git-dir=${repository}`, ...args], environment, cancellation, timeoutMs: GIT_MS });
  try {
    if (!(await hasCommit(git, commit))) await fetchCommit(source, repository, commit, cancellation);
    const tree = (await git(['rev-parse', '--verify', '--quiet', `${commit}^{tree}`])).toString().trim();
    const entries = parseTree(await git(['ls-tree', '-r', '-l', '-z', '--full-tree', commit]));
    refuseTooLarge(entries);
    if (entries.length > 0) {
      // An index of its own: a cancelled export leaves no lock for the next one.
      const index = { GIT_INDEX_FILE: join(repository, `index-${process.pid}-${performance.now()}`) };
      try {
        await git([`--work-tree=${destination}`, 'checkout', '-f', commit, '--', '.'], index);
      } finally {
        // Nothing reads it again, and with every run there would be one more.
        await rm(index.GIT_INDEX_FILE, { force: true });
      }
    }
    return { tree, entries };
  } catch (error) {
    if (cancellation.aborted || !(error instanceof GitFailure)) throw error;
    throw portcullisError('failed_to_start', { reason: `the commit could not be exported: ${error.message}` }, error);
  }
}

type RunOwnGit = (args: readonly string[], environment?: Readonly<Record<string, string>>) => Promise<Buffer>;

async function ownRepository(source: CommitSource, commit: string, cancellation: AbortSignal): Promise<string> {
  const format = gitHashAlgorithm(commit);
  const repository = join(source.directory, `${format}.git`);
  try {
    await access(join(repository, 'info', 'attributes'));
    return repository;
  } catch {
    await mkdir(source.directory, { recursive: true, mode: 0o700 });
  }
  await runGit(source.git, {
    args: ['init', '--quiet', '--bare', `--object-format=${format}`, '--template=', repository],
    cancellation,
    timeoutMs: GIT_MS,
  });
  await mkdir(join(repository, 'info'), { recursive: true });
  // This file outranks the tree's own .gitattributes: no filter, no conversion, the bytes that were committed.
  await writeFile(join(repository, 'info', 'attributes'), '* -text -ident -filter -working-tree-encoding -eol\n');
  return repository;
}

async function hasCommit(git: RunOwnGit, commit: string): Promise<boolean> {
  try {
    return (await git(['cat-file', '-t', commit])).toString().trim() === 'commit';
  } catch {
    return false;
  }
}

async function fetchCommit(
  source: CommitSource,
  repository: string,
  commit: string,
  cancellation: AbortSignal,
): Promise<void> {
  const deadline = performance.now() + FETCH_PATIENCE_MS;
  for (let pause = 250; ; pause = Math.min(pause * 2, 5_000)) {
    try {
      await runGit(source.git, {
        args: [
          ...[`--git-dir=${repository}`, 'fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules'],
          ...['--no-write-fetch-head', source.url, commit],
        ],
        config: { 'http.extraHeader': `Authorization: Bearer ${source.bearer}` },
        cancellation,
        timeoutMs: GIT_MS,
      });
      return;
    } catch (error) {
      const passing = error instanceof GitFailure && isPassing(error.message);
      if (!passing || cancellation.aborted || performance.now() + pause > deadline) throw error;
      await delay(pause);
    }
  }
}

/** The gateway or the store behind it is away. A refusal or a broken object stays what it is. */
function isPassing(message: string): boolean {
  return /Failed to connect|Connection (?:reset|refused)|Empty reply|returned error: (?:5\d\d|429)|RPC failed|early EOF|hung up/.test(
    message,
  );
}

function refuseTooLarge(entries: readonly TreeEntry[]): void {
  const bytes = entries.reduce((sum, { size }) => sum + (size ?? 0), 0);
  if (entries.length <= MAX_EXPORT_FILES && bytes <= MAX_EXPORT_BYTES) return;
  const limits = `at most ${MAX_EXPORT_FILES} files and ${MAX_EXPORT_BYTES} bytes are exported`;
  const reason = `the commit has ${entries.length} files of ${bytes} bytes together; ${limits}`;
  throw portcullisError('failed_to_start', { reason });
}

function parseTree(listing: Buffer): readonly TreeEntry[] {
  return listing
    .toString('latin1')
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const [mode = '', type = '', id = '', size = ''] = line.slice(0, line.indexOf('\t')).split(/ +/);
      return { mode, type, id, size: size === '-' ? null : Number(size), path: line.slice(line.indexOf('\t') + 1) };
    });
}
