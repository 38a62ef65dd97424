/** `portcullis ticket`: the work that NEXUS starts, from a plan to a merged change. */
import { Command, Option } from 'commander';
import { wholeLimit } from '../limits.ts';
import { action, exampleHelp } from '../program.ts';

export function ticketCommand(): Command {
  const noun = new Command('ticket').description('start tickets, see where they stand, decide where they wait for you');
  noun.addCommand(startVerb());
  noun.addCommand(listVerb());
  noun.addCommand(ofOne('show', 'show one ticket: phase, segment, candidate, workspaces', 'showTicket'));
  noun.addCommand(
    ofOne('why', 'say what a ticket waits for, since when, until when, and what would unblock it', 'explainTicket'),
  );
  noun.addCommand(traceVerb());
  noun.addCommand(watchVerb());
  noun.addCommand(decideVerb());
  noun.addCommand(deciding('resume', 'go on in a new execution from the last checkpoint; it inherits no pass'));
  noun.addCommand(deciding('abandon', 'end the ticket for good and destroy its workspaces'));
  return noun;
}

function startVerb(): Command {
  const start = new Command('start')
    .description('start a ticket')
    .argument('<file>', 'YAML or JSON; - is stdin')
    .option('--repo <path>', 'a repository on this machine instead of the one that the file names')
    .option('--remote <url>', 'a remote instead of the repository that the file names')
    .option('--id <id>', "instead of the file's id")
    .option('--watch', 'follow it to its end');
  exampleHelp(start, 'portcullis ticket start examples/tickets/T-048.yaml --repo . --watch');
  return action(start, async (context, { args }) => {
    const { startTicket } = await import('../ticket/start.ts');
    const flags = start.opts<{ repo?: string; remote?: string; id?: string; watch?: boolean }>();
    return startTicket(context, {
      file: args[0] ?? '',
      repo: flags.repo ?? null,
      remote: flags.remote ?? null,
      id: flags.id ?? null,
      watch: flags.watch === true,
    });
  });
}

function listVerb(): Command {
  const list = new Command('list')
    .description('list tickets, the one that changed last first')
    .addOption(new Option('--limit <n>', 'at most so many').default('50'));
  exampleHelp(list, 'portcullis ticket list', 'portcullis ticket list --json');
  return action(list, async (context) => {
    const { listTickets } = await import('../ticket/show.ts');
    return listTickets(context, wholeLimit(list.opts<{ limit: string }>().limit));
  });
}

function ofOne(name: string, description: string, does: 'showTicket' | 'explainTicket'): Command {
  const verb = new Command(name).description(description).argument('<id>');
  exampleHelp(verb, `portcullis ticket ${name} T-048`, `portcullis ticket ${name} T-048 --json`);
  return action(verb, async (context, { args }) => {
    const commands = await import('../ticket/show.ts');
    return commands[does](context, args[0] ?? '');
  });
}

function traceVerb(): Command {
  const trace = new Command('trace')
    .description('everything that happened to a ticket, from its issue to what landed and the end of its workspaces')
    .argument('<id>');
  exampleHelp(trace, 'portcullis ticket trace T-048', 'portcullis ticket trace T-048 --json');
  return action(trace, async (context, { args }) => {
    const { traceTicket } = await import('../ticket/trace.ts');
    return traceTicket(context, args[0] ?? '');
  });
}

function watchVerb(): Command {
  const watch = new Command('watch').description('follow a ticket to its end').argument('<id>');
  exampleHelp(watch, 'portcullis ticket watch T-048', 'portcullis ticket watch T-048 --json');
  return action(watch, async (context, { args }) => {
    const { watchTicket } = await import('../ticket/watch.ts');
    return watchTicket(context, args[0] ?? '');
  });
}

function decideVerb(): Command {
  const decide = new Command('decide')
    .description('decide on a ticket that is blocked or waits for a person')
    .argument('<id>')
    .addOption(
      new Option('--decision <word>', 'what to do').choices(['retry', 'resume', 'abandon']).makeOptionMandatory(),
    )
    .requiredOption('--reason <text>', 'why; it is kept with the ticket');
  exampleHelp(decide, 'portcullis ticket decide T-048 --decision retry --reason "the registry is back"');
  return action(decide, async (context, { args }) => {
    const { decideTicket } = await import('../ticket/show.ts');
    const { decision, reason } = decide.opts<{ decision: 'retry' | 'resume' | 'abandon'; reason: string }>();
    return decideTicket(context, args[0] ?? '', decision, reason);
  });
}

function deciding(decision: 'resume' | 'abandon', description: string): Command {
  const verb = new Command(decision)
    .description(description)
    .argument('<id>')
    .requiredOption('--reason <text>', 'why; it is kept with the ticket');
  exampleHelp(verb, `portcullis ticket ${decision} T-048 --reason "…"`);
  return action(verb, async (context, { args }) => {
    const { decideTicket } = await import('../ticket/show.ts');
    return decideTicket(context, args[0] ?? '', decision, verb.opts<{ reason: string }>().reason);
  });
}
