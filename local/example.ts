/**
 * The example as a real git repository: a clone cannot hold one inside itself, so it is made from the committed files, with
 * the same commits on every machine.
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { portcullisError } from '../schemas/errors.ts';
import { contentDigest } from '../schemas/digest.ts';
import { PACKAGE_ROOT } from './package-root.ts';

const TEMPLATE = join(PACKAGE_ROOT, 'examples', 'node-project');

/** The second commit adds the tests, so the example has a change to judge and a base to judge it against. */
const COMMITS = [
  { message: 'Add a token bucket', date: '2026-01-05T09:00:00Z', paths: ['.', ':!test'] },
  { message: 'Test the token bucket', date: '2026-01-05T10:00:00Z', paths: ['.'] },
] as const;

const IDENTITY = {
  GIT_AUTHOR_NAME: 'FORGE',
  GIT_AUTHOR_EMAIL: 'forge@example.com',
  GIT_COMMITTER_NAME: 'FORGE',
  GIT_COMMITTER_EMAIL: 'forge@example.com',
};

/**
 * Makes the repository below `directory`, or leaves the one that is there: a person may have tried something in it.
 * @returns its path. @throws `repository_invalid`
 */
export async function exampleRepository(directory: string): Promise<string> {
  const repository = join(directory, 'node-project');
  const marker = join(directory, 'node-project.template');
  const template = await templateDigest();
  if ((await textOf(marker)) === template && (await textOf(join(repository, '.git', 'HEAD'))) !== null) {
    return repository;
  }
  const staging = join(directory, `.node-project.${process.pid}`);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await rm(staging, { recursive: true, force: true });
    await cp(TEMPLATE, staging, { recursive: true });
    await commitAll(staging);
    await rm(repository, { recursive: true, force: true });
    await rename(staging, repository);
    await writeFile(marker, template);
    return repository;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw portcullisError('repository_invalid', { path: repository, reason }, error);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function commitAll(repository: string): Promise<void> {
  // The repository of the clone around it is none of git's business here, nor is anybody's configuration.
  const environment = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: repository,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CEILING_DIRECTORIES: repository,
    ...IDENTITY,
  };
  const git = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    promisify(execFile)('git', ['-c', 'core.autocrlf=false', '-c', 'core.fileMode=true', ...args], {
      cwd: repository,
      env: { ...environment, ...more },
      timeout: 30_000,
    });
  await git(['init', '--quiet', '--initial-branch=main', '--template=']);
  for (const { message, date, paths } of COMMITS) {
    await git(['add', '--', ...paths]);
    await git(['commit', '--quiet', '--message', message], { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date });
  }
}

async function templateDigest(): Promise<string> {
  const entries = await readdir(TEMPLATE, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const parts = await Promise.all(
    files.toSorted().map(async (file) => `${file.slice(TEMPLATE.length)}\0${await readFile(file, 'utf8')}`),
  );
  return contentDigest(new TextEncoder().encode([JSON.stringify(COMMITS), ...parts].join('\0\0')));
}

async function textOf(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    return null;
  }
}
