/** `portcullis submit|append|approve|reject`: what an agent asks of the control plane, from inside its workspace. */
import { Command } from 'commander';
import { action, exampleHelp } from '../program.ts';

export function agentCommands(): readonly Command[] {
  const submit = new Command('submit')
    .description('in a workspace: submit the pushed HEAD as plan, segment or ready')
    .argument('<what>', 'plan, segment or ready');
  exampleHelp(submit, 'portcullis submit plan', 'portcullis submit segment');

  const append = new Command('append')
    .description('in a workspace: append a review file to the record')
    .argument('<file>');
  exampleHelp(append, 'portcullis append segment-1-eval.md');

  return [
    asAgent(submit, ({ args }) => ['submit', args[0] ?? '']),
    asAgent(append, ({ args }) => ['append', args[0] ?? '']),
    answer('approve', 'in a workspace: approve what is under review, as the appended review says'),
    answer('reject', 'in a workspace: reject what is under review, as the appended review says'),
  ];
}

function answer(name: 'approve' | 'reject', description: string): Command {
  const command = new Command(name)
    .description(description)
    .option('--token-file <file>', 'take the approval token from this file instead of the context');
  exampleHelp(command, `portcullis ${name}`);
  return asAgent(command, () => {
    const { tokenFile } = command.opts<{ tokenFile?: string }>();
    return [name, ...(tokenFile === undefined ? [] : ['--token-file', tokenFile])];
  });
}

function asAgent(command: Command, argvOf: (command: Command) => readonly string[]): Command {
  return action(command, async ({ output, environment }) => {
    const { harnessCallsOf } = await import('../../workers/agent/calls.ts');
    const { runAgentCommand } = await import('../../workers/agent/command.ts');
    const { HARNESS_VARIABLE } = await import('../../workers/agent/turn.ts');
    const calls = await harnessCallsOf(environment[HARNESS_VARIABLE] ?? '');
    const said = await runAgentCommand(calls, argvOf(command));
    output.result('AgentAnswer', { said }, said);
    return 0;
  });
}
