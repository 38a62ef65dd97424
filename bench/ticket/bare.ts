/** The commands that a ticket's verifications ran, each once more on an export of the same commit: without sandbox, door and workflow. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryPath } from '../../activities/git/repository.ts';
import { TENANT } from './stack.ts';
import type { Stack } from '../../test/e2e/stage.ts';

const run = promisify(execFile);

export interface BareRuns {
  readonly commands: number;
  /** Milliseconds of all together, the exports not counted. */
  readonly ms: number;
}

/** @throws when a command that was satisfied does not exit 0 here */
export async function runBare({ operator, paths }: Stack, ticket: string): Promise<BareRuns> {
  const gitDir = repositoryPath(paths.repositories, TENANT, ticket);
  const { items } = await operator.listTasks({ pair: ticket, limit: 100 });
  let ms = 0;
  for (const { taskId } of items) {
    const { request, result } = await operator.showTask(taskId);
    if (request === null) throw new Error(`the request of ${taskId} is gone`);
    const { argv, subject } = request.request;
    const [program = '', ...args] = argv;
    const directory = await mkdtemp(join(tmpdir(), 'portcullis-bench-bare-'));
    try {
      const archive = join(directory, 'commit.tar');
      await run('git', ['--git-dir', gitDir, 'archive', '--output', archive, subject.headSha]);
      await run('tar', ['-xf', archive, '-C', directory]);
      const began = performance.now();
      await run(program, args, { cwd: directory, env: { PATH: process.env['PATH'], HOME: directory } });
      ms += performance.now() - began;
    } catch (thrown) {
      if (result?.satisfied !== false) throw thrown;
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
  return { commands: items.length, ms };
}
