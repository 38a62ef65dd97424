/** Real repositories for tests of git: a producer's checkout, and the control plane's own bare repository of a pair. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { repositoryPath } from '../../activities/git/repository.ts';

export interface GitStage {
  readonly root: string;
  readonly repositoriesDir: string;
  /** Runs git in a directory, as a producer would. */
  run(cwd: string, ...args: string[]): string;
  /** Writes the files and commits them; the commit. A `null` removes the file. */
  commit(checkout: string, files: Readonly<Record<string, string | null>>, message?: string): string;
  /** A checkout with one commit on `main`. */
  checkout(name: string, files?: Readonly<Record<string, string>>): string;
  /** The pair's own bare repository, made from a checkout with all its branches; its path. */
  own(pair: string, checkout: string): string;
  close(): void;
}

export function openGitStage(): GitStage {
  const root = mkdtempSync(join(tmpdir(), 'portcullis-git-stage-'));
  const environment = {
    ...{
      PATH: process.env['PATH'] ?? '',
      HOME: root,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TERMINAL_PROMPT: '0',
      GIT_TEMPLATE_DIR: '',
    },
    ...{ GIT_AUTHOR_NAME: 'p', GIT_AUTHOR_EMAIL: 'p@example.com', GIT_AUTHOR_DATE: '@1700000000 +0000' },
    ...{ GIT_COMMITTER_NAME: 'p', GIT_COMMITTER_EMAIL: 'p@example.com', GIT_COMMITTER_DATE: '@1700000000 +0000' },
  };
  const run = (cwd: string, ...args: string[]) =>
    execFileSync('git', args, { cwd, env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  const repositoriesDir = join(root, 'repositories');
  const stage: GitStage = {
    root,
    repositoriesDir,
    run,
    commit(checkout, files, message = 'change') {
      for (const [path, text] of Object.entries(files)) {
        const file = join(checkout, path);
        mkdirSync(dirname(file), { recursive: true });
        if (text === null) rmSync(file);
        else writeFileSync(file, text);
      }
      run(checkout, 'add', '--all');
      run(checkout, 'commit', '--quiet', '--message', message);
      return run(checkout, 'rev-parse', 'HEAD');
    },
    checkout(name, files = { 'a.txt': 'one\ntwo\nthree\n' }) {
      const path = join(root, name);
      mkdirSync(path, { recursive: true });
      run(path, 'init', '--quiet', '--initial-branch', 'main');
      stage.commit(path, files, 'first');
      return path;
    },
    own(pair, checkout) {
      const path = repositoryPath(repositoriesDir, 'local', pair);
      run(root, 'clone', '--quiet', '--bare', checkout, path);
      run(path, 'remote', 'remove', 'origin');
      return path;
    },
    close: () => rmSync(root, { recursive: true, force: true }),
  };
  return stage;
}
