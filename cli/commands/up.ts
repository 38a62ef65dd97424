/** `portcullis up`: the local stack, then the example. */
import { Command } from 'commander';
import { action, exampleHelp, settingOption } from '../program.ts';

export function upCommand(): Command {
  const command = new Command('up')
    .description('start the local stack, verify the example, and stay up')
    .option('--once', 'stop after the example; its exit code is the answer')
    .option('--no-example', 'start the stack only')
    .option('--detach', 'leave the stack running in the background')
    .addOption(settingOption('store.maxmemory-mb'));
  exampleHelp(command, 'portcullis up', 'portcullis up --once', 'portcullis up --detach --no-example');
  return action(command, async (context) => {
    const { runUp } = await import('../up/run.ts');
    const { once, example, detach } = command.opts<{ once?: boolean; example: boolean; detach?: boolean }>();
    return runUp(context, { once: once === true, example, detach: detach === true });
  });
}
