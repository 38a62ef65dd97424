/** `portcullis gate`: decisions, why they came out as they did, and whether they count now. */
import { Command, Option } from 'commander';
import {
  HUMAN_ANSWERS,
  OVERRIDABLE_CASES,
  type HumanAnswer,
  type OverridableCase,
} from '../../schemas/gate/vocabulary.ts';
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
  noun.addCommand(decideVerb());
  return noun.addCommand(gateEvalCommand());
}

function decideVerb(): Command {
  const decide = new Command('decide')
    .description(
      'decide yourself on what a gate judges: evidence for its next evaluation, which a retry of the ticket starts',
    )
    .argument('<id>', ID)
    .addOption(new Option('--decision <word>', 'what you say').choices([...HUMAN_ANSWERS]).makeOptionMandatory())
    .addOption(new Option('--case <case>', 'what an override removes').choices([...OVERRIDABLE_CASES]))
    .requiredOption('--reason <text>', 'why; it is kept as a record of its own')
    .option('--expires <when>', 'until when it counts: 90m, 12h, 7d, or a time such as 2026-12-31T12:00:00Z');
  exampleHelp(
    decide,
    'portcullis gate decide T-048 --decision approve --reason "read the diff and the review"',
    'portcullis gate decide T-048 --decision override --case inconclusive --reason "seen by hand" --expires 12h',
  );
  return action(decide, async (context, { args }) => {
    const { decideGate } = await import('../gate/decide.ts');
    const flags = decide.opts<{ decision: HumanAnswer; case?: OverridableCase; reason: string; expires?: string }>();
    return decideGate(context, args[0] ?? '', {
      decision: flags.decision,
      case: flags.case ?? null,
      reason: flags.reason,
      expires: flags.expires ?? null,
    });
  });
}
