/** Small git repositories made on the spot: files and what they hold, one commit. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A file's text; a link's target; or a file with its mode. */
export type FileSpec = string | { readonly linkTo: string } | { readonly text: string; readonly mode: number };

export async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run('git', [...args], {
    cwd,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: cwd,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_AUTHOR_NAME: 'Test',
      GIT_AUTHOR_EMAIL: 'test@example.com',
      GIT_COMMITTER_NAME: 'Test',
      GIT_COMMITTER_EMAIL: 'test@example.com',
    },
  });
  return stdout.trim();
}

export async function writeFiles(root: string, files: Readonly<Record<string, FileSpec>>): Promise<void> {
  for (const [path, spec] of Object.entries(files)) {
    const whole = join(root, path);
    await mkdir(dirname(whole), { recursive: true });
    if (typeof spec === 'string') await writeFile(whole, spec);
    else if ('linkTo' in spec) await symlink(spec.linkTo, whole);
    else {
      await writeFile(whole, spec.text);
      await chmod(whole, spec.mode);
    }
  }
}

/** Commits the files in a new repository and mirrors it to `{repositories}/{tenant}/{pair}.git`; the commit's id. */
export async function publish(
  source: string,
  bare: string,
  files: Readonly<Record<string, FileSpec>>,
): Promise<string> {
  await mkdir(source, { recursive: true });
  await git(source, 'init', '--quiet', '--initial-branch=main');
  await writeFiles(source, files);
  await git(source, 'add', '--all', '--force');
  await git(source, 'commit', '--quiet', '--message=fixture', '--allow-empty');
  await mkdir(dirname(bare), { recursive: true });
  await git(source, 'clone', '--quiet', '--bare', '--no-hardlinks', source, bare);
  return git(source, 'rev-parse', 'HEAD');
}
