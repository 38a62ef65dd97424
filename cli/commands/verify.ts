/** `portcullis verify`: a command run on a repository's HEAD, as a reviewing agent would ask for it. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { GatewayClient } from '../../client/gateway-client.ts';
import { readState } from '../../local/state.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { flagsOf, type CliContext } from '../context.ts';
import { action, exampleHelp } from '../program.ts';
import { verifyOptions, type VerifyOptions } from '../verify/options.ts';
import { exitCodeOf, resultObject, resultText } from '../verify/render.ts';
import { verifyOnce } from '../verify/session.ts';

export function verifyCommand(): Command {
  const command = new Command('verify')
    .description("run one permitted command on a repository's HEAD and persist what happened")
    .option('--repo <path>', 'the git repository', '.')
    .option('--pair <id>', 'the pair to ask in; one of the repository’s own unless named')
    .option(
      '--cwd <repo|worktree>',
      'repo: a fresh export of the commit; worktree: the files as they are now, committed or not (never serves a gate)',
      'repo',
    )
    .option('--timeout <secs>', 'seconds until the command is ended', '600')
    .option('--expect-exit <code>', 'the exit code that satisfies', '0')
    .option(
      '--executor <forge|verifier>',
      'verifier: what it says may serve a gate; forge: as a producer says it, which never does; by routing policy unless named',
    )
    .option('--artifact <path...>', 'files that must be there afterwards; their bytes are hashed')
    .option('--again', 'run it anew although the same was answered before')
    .argument('<argv...>', 'the command, whole, after --');
  exampleHelp(command, 'portcullis verify --repo . -- node --test', 'portcullis verify --repo . --json -- npm test');
  return action(command, (context, called) => verifyRepository(verifyOptions(flagsOf(called), called.args), context));
}

/** Verifies and prints. @returns the exit code of spec/cli.md */
export async function verifyRepository(options: VerifyOptions, context: CliContext): Promise<number> {
  const task = await verifyOnce({ operator: operatorClient(context), context, options });
  context.output.result('VerifyResult', resultObject(task), resultText(task, context.output));
  return exitCodeOf(task);
}

/** The gateway with the operator's credential. @throws `stack_not_running`, `unauthenticated` */
export function operatorClient({ settings, paths }: CliContext): GatewayClient {
  const state = readState(paths);
  const url = settings.get('gateway.url') ?? (state === null ? null : `http://127.0.0.1:${state.ports.gateway}`);
  if (url === null) throw portcullisError('stack_not_running');
  const file = settings.get('credential.file') ?? paths.operator;
  try {
    return new GatewayClient({ url, bearer: readFileSync(file, 'utf8').trim() });
  } catch (error) {
    throw portcullisError(state === null ? 'stack_not_running' : 'unauthenticated', {}, error);
  }
}
