/** `portcullis audit` and `portcullis events`: what was kept, as it was written. */
import { Command, Option } from 'commander';
import { portcullisError } from '../../schemas/errors.ts';
import { wholeLimit } from '../limits.ts';
import { action, exampleHelp, settingOption } from '../program.ts';

interface TailFlags {
  readonly limit: string;
  readonly follow?: boolean;
}

export function auditCommand(): Command {
  const noun = new Command('audit').description('the signed chain of what was decided and done');
  const tail = tailing('print the newest entries');
  exampleHelp(tail, 'portcullis audit tail', 'portcullis audit tail --follow --json');
  noun.addCommand(
    action(tail, async (context) => {
      const { tailAudit } = await import('../audit/tail.ts');
      return tailAudit(context, tailOptions(tail.opts<TailFlags>()));
    }),
  );
  const verify = new Command('verify')
    .description('walk the whole chain with your own copies of the public keys (exit: 3 when something does not hold)')
    .addOption(
      new Option('--anchors <n>', 'read the anchors of so many workflows, the newest; 0 for none').default('1000'),
    )
    .addOption(settingOption('keys.dir'));
  exampleHelp(verify, 'portcullis audit verify', 'portcullis audit verify --anchors 5000 --keys-dir ~/portcullis-keys');
  noun.addCommand(
    action(verify, async (context) => {
      const { verifyAudit } = await import('../audit/verify.ts');
      const { anchors } = verify.opts<{ anchors: string }>();
      if (!/^\d{1,6}$/.test(anchors)) {
        throw portcullisError('usage', { reason: '--anchors must be a whole number up to 999999' });
      }
      return verifyAudit(context, { anchors: Number(anchors) });
    }),
  );
  return noun;
}

export function eventsCommand(): Command {
  const noun = new Command('events').description('the lives of tickets and workspaces, event by event');
  const tail = tailing('print the newest events');
  exampleHelp(tail, 'portcullis events tail', 'portcullis events tail --follow --json');
  return noun.addCommand(
    action(tail, async (context) => {
      const { tailEvents } = await import('../audit/tail.ts');
      return tailEvents(context, tailOptions(tail.opts<TailFlags>()));
    }),
  );
}

function tailing(description: string): Command {
  return new Command('tail')
    .description(description)
    .option('--follow', 'go on with what comes')
    .addOption(new Option('--limit <n>', 'begin with so many').default('20'));
}

function tailOptions({ limit, follow = false }: TailFlags) {
  return { limit: wholeLimit(limit), follow };
}
