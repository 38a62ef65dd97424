/** `portcullis task`: verifications as A2A tasks. */
import { Command, Option } from 'commander';
import { wholeLimit } from '../limits.ts';
import { action, exampleHelp } from '../program.ts';

export function taskCommand(): Command {
  const task = new Command('task').description('look at verifications, follow and cancel them');

  const list = new Command('list')
    .description('list tasks, newest first')
    .option('--pair <id>', 'of this pair only')
    .addOption(new Option('--limit <n>', 'at most so many').default('20'));
  exampleHelp(list, 'portcullis task list', 'portcullis task list --pair T-048 --json');
  task.addCommand(
    action(list, async (context) => {
      const { listTasks } = await import('../task/list.ts');
      const { pair, limit } = list.opts<{ pair?: string; limit: string }>();
      return listTasks(context, { pair: pair ?? null, limit: wholeLimit(limit) });
    }),
  );

  const show = new Command('show')
    .description('show one task: request, state, result')
    .argument('<id>')
    .option('--stdout', 'print the stored standard output of the command instead')
    .option('--stderr', 'print the stored standard error of the command instead');
  exampleHelp(show, 'portcullis task show ID', 'portcullis task show ID --stdout | less');
  task.addCommand(
    action(show, async (context, { args }) => {
      const { printOutput, showTask } = await import('../task/show.ts');
      const { stdout, stderr } = show.opts<{ stdout?: boolean; stderr?: boolean }>();
      const id = args[0] ?? '';
      if (stdout === true || stderr === true) return printOutput(context, id, stdout === true ? 'stdout' : 'stderr');
      return showTask(context, id);
    }),
  );

  const watch = new Command('watch').description('follow a task to its end').argument('<id>');
  exampleHelp(watch, 'portcullis task watch ID', 'portcullis task watch ID --json');
  task.addCommand(
    action(watch, async (context, { args }) => {
      const { watchTask } = await import('../task/watch.ts');
      return watchTask(context, args[0] ?? '');
    }),
  );

  const cancel = new Command('cancel')
    .description('cancel a task; it ends when its last process is gone')
    .argument('<id>');
  exampleHelp(cancel, 'portcullis task cancel ID');
  task.addCommand(
    action(cancel, async (context, { args }) => {
      const { cancelTask } = await import('../task/watch.ts');
      return cancelTask(context, args[0] ?? '');
    }),
  );
  return task;
}
