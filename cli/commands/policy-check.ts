/** `portcullis policy check -- ARGV…`: what the command policy says of an argv, without running it. */
import { Command } from 'commander';
import { loadCommandPolicy } from '../../activities/policy/load.ts';
import { evaluateCommand } from '../../policies/commands/evaluate.ts';
import { WORKING_DIRECTORIES, type WorkingDirectory } from '../../schemas/verify/request.ts';
import { neededSetting } from '../context.ts';
import type { Output } from '../output.ts';
import { action, exampleHelp } from '../program.ts';

export interface PolicyCheckOptions {
  /** Where the documents are. */
  readonly directory: string;
  readonly argv: readonly string[];
  readonly cwd: WorkingDirectory;
  readonly timeoutSecs: number;
  readonly expectExitCode: number;
  readonly artifacts: readonly string[];
}

/** The verb; whoever builds the noun `policy` adds it. */
export function policyCheckCommand(): Command {
  const command = new Command('check')
    .description('say whether a command would be admitted, as what it would run, or why not')
    .argument('<argv...>', 'the command, after --');
  exampleHelp(
    command,
    'portcullis policy check -- cargo test --package foo',
    'portcullis policy check --json -- npm t',
  );
  return action(command, (context, called) =>
    policyCheck(
      {
        directory: neededSetting(context, 'policies.dir'),
        argv: called.args,
        cwd: WORKING_DIRECTORIES[0],
        timeoutSecs: 600,
        expectExitCode: 0,
        artifacts: [],
      },
      context.output,
    ),
  );
}

/** @returns 0 allowed, 3 refused. @throws `setting_invalid` when the policy cannot be used */
export async function policyCheck({ directory, ...ask }: PolicyCheckOptions, output: Output): Promise<number> {
  const { policy, digest } = await loadCommandPolicy(directory);
  const ruling = evaluateCommand(policy, ask);
  const reference = { id: policy.id, revision: policy.revision, digest };
  const document = `policy   ${policy.id} revision ${policy.revision} (${digest})`;
  if (!ruling.allowed) {
    const { reason, detail } = ruling;
    const refused = { allowed: false, template: null, reason, detail, argv_executed: null, policy: reference };
    output.result('PolicyCheck', refused, `${output.style('bad', 'refused')}  ${reason}: ${detail}\n${document}`);
    return 3;
  }
  const { template, argvExecuted, environment, limits, counts } = ruling;
  output.result(
    'PolicyCheck',
    {
      allowed: true,
      template,
      reason: null,
      argv_executed: argvExecuted,
      environment,
      limits,
      counts,
      policy: reference,
    },
    [
      `${output.style('good', 'allowed')}  ${template}`,
      `runs     ${argvExecuted.join(' ')}`,
      `counts   ${counts === null ? 'none: it runs no tests' : `${counts.parser}, at least ${counts.minExecuted} executed`}`,
      document,
    ].join('\n'),
  );
  return 0;
}
