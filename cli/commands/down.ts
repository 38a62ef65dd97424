/** `portcullis down`: stops the local stack, also what a killed supervisor left behind. */
import { Command } from 'commander';
import { stopLocalStack } from '../../local/down.ts';
import { action, exampleHelp } from '../program.ts';

export function downCommand(): Command {
  const command = new Command('down').description('stop the local stack; its state stays');
  exampleHelp(command, 'portcullis down', 'portcullis down --json');
  return action(command, async ({ paths, output }) => {
    const outcome = await stopLocalStack(paths);
    const stopped = outcome.processes.map(({ part, pid }) => ({ part, pid }));
    const text = stopped.length === 0 ? 'Nothing runs here.' : `Stopped ${stopped.map(({ part }) => part).join(', ')}.`;
    output.result('Down', { stopped }, text);
    return 0;
  });
}
