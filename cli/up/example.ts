/** The example that `up` verifies once the stack is ready, and what is said about it. */
import { relative } from 'node:path';
import { exampleRepository } from '../../local/example.ts';
import { stackStatus } from '../../local/status.ts';
import { verifyRepository } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import { verifyOptions } from '../verify/options.ts';

const ARGV = ['node', '--test'];

/** @returns the exit code of the verification */
export async function runExample(context: CliContext, began: number): Promise<number> {
  const { output, paths } = context;
  const repository = await exampleRepository(paths.examples);
  const shown = relative(process.cwd(), repository) || repository;
  output.progress(`\nVerifying the example: ${shown} -- ${ARGV.join(' ')}`);
  // Asked anew at each start: an answer of an earlier run would show nothing of this one.
  const flags = { repo: repository, cwd: 'repo', timeout: '120', expectExit: '0', again: true };
  const code = await verifyRepository(verifyOptions(flags, ARGV), context);
  output.progress(`\n${explanation(context, shown, code, performance.now() - began)}\n`);
  return code;
}

function explanation({ paths }: CliContext, repository: string, code: number, tookMs: number): string {
  const { temporalUi } = stackStatus(paths);
  const proves =
    code === 0
      ? 'What this proves: exactly that command ran on a fresh export of exactly that commit, in a sandbox without network,\n' +
        'by an executor that holds one credential; what it did was stored durably before it was called complete.'
      : 'The example was not satisfied: the lines above say why, and nothing counts as a pass.';
  return [
    `First result ${(tookMs / 1000).toFixed(1)} s after the start.`,
    proves,
    '',
    ...(temporalUi === null ? [] : [`Temporal UI   ${temporalUi}`]),
    'Next          npx portcullis verify --repo PATH -- npm test     a repository of yours',
    `              npx portcullis verify --repo ${repository} --again -- node --test`,
    '              npx portcullis status                             each part of the stack',
    '              npx portcullis doctor                             what this machine has and lacks',
  ].join('\n');
}
