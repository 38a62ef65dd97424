/** The private directories of one run, made before it and removed after it whatever the command did to them. */
import { chmod, lstat, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface RunDirectory {
  readonly path: string;
  readonly work: string;
  readonly report: string;
  readonly pipes: string;
  remove(): Promise<void>;
}

export async function makeRunDirectory(parent: string): Promise<RunDirectory> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  const path = await mkdtemp(join(await realpath(parent), 'run-'));
  const [work, report, pipes] = [join(path, 'work'), join(path, 'report'), join(path, 'pipes')] as const;
  for (const directory of [work, report, pipes]) await mkdir(directory, { mode: 0o700 });
  return { path, work, report, pipes, remove: () => removeTree(path) };
}

/** Removes runs that an executor left when it was killed. Call it before the first run of a new one. */
export async function removeLeftRuns(parent: string): Promise<void> {
  await mkdir(parent, { recursive: true, mode: 0o700 });
  for (const name of await readdir(parent)) await removeTree(join(parent, name));
}

/** Removes a tree of ours in which somebody else could write, whatever rights they left on it. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    // A command may have taken its own rights to its directories away.
    await openUp(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function openUp(path: string): Promise<void> {
  const entry = await lstat(path);
  if (!entry.isDirectory()) return;
  await chmod(path, 0o700);
  for (const name of await readdir(path)) await openUp(join(path, name));
}

/** Files of /etc for sandboxes: one user, one group, and no name service. */
export async function writeSandboxEtc(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o755 });
  await writeFile(join(directory, 'passwd'), 'run:x:1000:1000:run:/home/run:/bin/sh\n');
  await writeFile(join(directory, 'group'), 'run:x:1000:\n');
  await writeFile(join(directory, 'hosts'), '127.0.0.1 localhost sandbox\n::1 localhost\n');
  await writeFile(join(directory, 'nsswitch.conf'), 'passwd: files\ngroup: files\nhosts: files\n');
}
