/** `portcullis gate`: decisions, why they came out as they did, and whether they count now. */
import { Command } from 'commander';
import { action, exampleHelp } from '../program.ts';
import { gateEvalCommand } from './gate-eval.ts';

const ID = 'an evaluation key, a subject’s digest, or a ticket: its newest decision';

export function gateCommand(): Command {
  const noun = new Command('gate').description('look at decisions, and evaluate requests offline');

  const show = new Command('show')
    .description('a decision, its reasons, and whether it counts now (exit: by decision; 8 when it does not apply)')
    .argument('<id>', ID);
  exampleHelp(show, 'portcullis gate show T-048', 'portcullis gate show T-048 --json');
  noun.addCommand(
    action(show, async (context, { args }) => {
      const { showGate } = await import('../gate/show.ts');
      return showGate(context, args[0] ?? '');
    }),
  );

  const why = new Command('why')
    .description('why it came out so and what would change it, in sentences (exit as show)')
    .argument('<id>', ID);
  exampleHelp(why, 'portcullis gate why T-048');
  noun.addCommand(
    action(why, async (context, { args }) => {
      const { explainGate } = await import('../gate/show.ts');
      return explainGate(context, args[0] ?? '');
    }),
  );

  const history = new Command('history')
    .description('every decision about a ticket or a subject, newest first')
    .argument('<id>', ID);
  exampleHelp(history, 'portcullis gate history T-048');
  noun.addCommand(
    action(history, async (context, { args }) => {
      const { gateHistory } = await import('../gate/history.ts');
      return gateHistory(context, args[0] ?? '');
    }),
  );
  return noun.addCommand(gateEvalCommand());
}
