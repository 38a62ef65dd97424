/** `portcullis evidence` and `portcullis finding`: the records behind decisions. */
import { Command } from 'commander';
import { action, exampleHelp } from '../program.ts';

const DIGEST = 'of the record, with or without sha256: (`gate show` lists them)';
const TICKET = 'in whose index a record of a check is looked for';

export function evidenceCommand(): Command {
  const noun = new Command('evidence').description('records of checks, reviews, findings and people, by their digest');
  const show = new Command('show')
    .description('one record as it was written (exit: 3 when it cannot be read)')
    .argument('<digest>', DIGEST)
    .option('--ticket <id>', TICKET);
  exampleHelp(show, 'portcullis evidence show sha256:9f86d0…', 'portcullis evidence show 9f86d0… --json');
  noun.addCommand(
    action(show, async (context, { args }) => {
      const { showEvidence } = await import('../evidence/evidence.ts');
      return showEvidence(context, args[0] ?? '', show.opts<{ ticket?: string }>().ticket ?? null);
    }),
  );
  const verify = new Command('verify')
    .description('make its digest again here, and look whether an index lists it (exit: 3 when not)')
    .argument('<digest>', DIGEST)
    .option('--ticket <id>', TICKET);
  exampleHelp(verify, 'portcullis evidence verify sha256:9f86d0… --ticket T-048');
  return noun.addCommand(
    action(verify, async (context, { args }) => {
      const { verifyEvidence } = await import('../evidence/evidence.ts');
      return verifyEvidence(context, args[0] ?? '', verify.opts<{ ticket?: string }>().ticket ?? null);
    }),
  );
}

export function findingCommand(): Command {
  const noun = new Command('finding').description('what reviewers found, and what became of it');
  const list = new Command('list')
    .description('findings of every subject of a ticket, newest first')
    .argument('<ticket>', 'its id')
    .option('--adjacent', 'those that were seen beside the change, which send nobody back');
  exampleHelp(list, 'portcullis finding list T-048', 'portcullis finding list T-048 --adjacent');
  noun.addCommand(
    action(list, async (context, { args }) => {
      const { listFindings } = await import('../evidence/findings.ts');
      return listFindings(context, args[0] ?? '', list.opts<{ adjacent?: boolean }>().adjacent ?? false);
    }),
  );
  const show = new Command('show')
    .description('one finding: what breaks, what mends it, and what became of it')
    .argument('<ticket>', 'its id')
    .argument('<finding>', 'id of the finding');
  exampleHelp(show, 'portcullis finding show T-048 f-5ed73d052d9ddced3134fd08308973d8');
  return noun.addCommand(
    action(show, async (context, { args }) => {
      const { showFinding } = await import('../evidence/findings.ts');
      return showFinding(context, args[0] ?? '', args[1] ?? '');
    }),
  );
}
