/** The private directories of one run, made before it and removed after it whatever the command did to them. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** For all of it. What is larger than can be removed in this time is not waited for. */
const REMOVE_MS = 60_000;

export interface RunDirectory {
  readonly path: string;
  readonly work: string;
  readonly report: string;
  readonly pipes: string;
  /** Never rejects: what cannot be removed is left to {@link removeLeftRuns}. */
  remove(): Promise<void>;
}

export async function makeRunDirectory(parent: string): Promise<RunDirectory> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const path = await mkdtemp(join(await realpath(parent), 'run-'));
  const [work, report, pipes] = [join(path, 'work'), join(path, 'report'), join(path, 'pipes')] as const;
  for (const directory of [work, report, pipes]) await mkdir(directory, { mode: 0o700 });
  return { path, work, report, pipes, remove: () => removeOrLeave(path) };
}

/**
 * Removes runs that an executor left when it was killed. Call it before the first run of a new one. What cannot be removed
 * stays: it is in nobody's way, and an executor that does not start would be worse.
 */
export async function removeLeftRuns(parent: string): Promise<void> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await Promise.all((await readdir(parent)).map((name) => removeOrLeave(join(parent, name))));
}

async function removeOrLeave(path: string): Promise<void> {
  try {
    await removeTree(path);
  } catch {
    // The next start of an executor tries again; a run's report is worth more than its directory.
  }
}

/**
 * Removes a tree of ours, with whatever rights a command left on it. Done by `rm`, which goes from directory to directory:
 * a tree may be deeper than any path can be long, and then Node's own removal does not reach its end.
 * @throws what `rm` said when something is left
 */
export async function removeTree(path: string): Promise<void> {
  const deadline = AbortSignal.timeout(REMOVE_MS);
  const call = (program: string, ...args: readonly string[]) =>
    run(program, [...args, '--', path], {
      signal: deadline,
      killSignal: 'SIGKILL',
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C' },
      // One message for each file that cannot be removed, and nobody reads more than the first of them.
      maxBuffer: 1024 * 1024,
    });
  try {
    await call('rm', '-rf');
  } catch {
    deadline.throwIfAborted();
    // A command may have taken its own rights to its directories away. No link on the way is followed.
    await call('chmod', '-R', 'u+rwX').catch(() => {});
    await call('rm', '-rf');
  }
}

/** Files of /etc for sandboxes: one user, one group, and no name service. */
export async function writeSandboxEtc(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o755 });
  await writeFile(join(directory, 'passwd'), 'run:x:1000:1000:run:/home/run:/bin/sh\n');
  await writeFile(join(directory, 'group'), 'run:x:1000:\n');
  await writeFile(join(directory, 'hosts'), '127.0.0.1 localhost sandbox\n::1 localhost\n');
  await writeFile(join(directory, 'nsswitch.conf'), 'passwd: files\ngroup: files\nhosts: files\n');
}
