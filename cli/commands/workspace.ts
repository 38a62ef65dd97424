/** `portcullis workspace` and `portcullis incident`: what runs for agents, and what could not be destroyed. */
import { Command, Option } from 'commander';
import { wholeLimit } from '../limits.ts';
import { action, exampleHelp } from '../program.ts';

export function workspaceCommand(): Command {
  const noun = new Command('workspace').description('see the workspaces of agents and verifiers, and end one');
  const list = listing('list', 'list workspaces, the one that changed last first');
  exampleHelp(list, 'portcullis workspace list', 'portcullis workspace list --json');
  noun.addCommand(
    action(list, async (context) => {
      const { listWorkspaces } = await import('../workspace/show.ts');
      return listWorkspaces(context, wholeLimit(list.opts<{ limit: string }>().limit));
    }),
  );
  const show = new Command('show').description('show one workspace').argument('<id>');
  exampleHelp(show, 'portcullis workspace show forge-0123456789abcdef0123');
  noun.addCommand(
    action(show, async (context, { args }) => {
      const { showWorkspace } = await import('../workspace/show.ts');
      return showWorkspace(context, args[0] ?? '');
    }),
  );
  const teardown = new Command('teardown')
    .description('destroy one workspace; its ticket goes on in another')
    .argument('<id>')
    .requiredOption('--reason <text>', 'why; it is kept with the workspace');
  exampleHelp(teardown, 'portcullis workspace teardown forge-0123456789abcdef0123 --reason "it does not answer"');
  noun.addCommand(
    action(teardown, async (context, { args }) => {
      const { tearDownWorkspace } = await import('../workspace/show.ts');
      return tearDownWorkspace(context, args[0] ?? '', teardown.opts<{ reason: string }>().reason);
    }),
  );
  return noun;
}

export function incidentCommand(): Command {
  const noun = new Command('incident').description(
    'workspaces that could not be destroyed, landings under an authority that changed, and rulings on them',
  );
  const list = listing('list', 'list incidents, the newest first');
  exampleHelp(list, 'portcullis incident list');
  noun.addCommand(
    action(list, async (context) => {
      const { listIncidents } = await import('../workspace/show.ts');
      return listIncidents(context, wholeLimit(list.opts<{ limit: string }>().limit));
    }),
  );
  const resolve = new Command('resolve')
    .description('rule on an incident')
    .argument('<id>')
    .addOption(
      new Option(
        '--ruling <word>',
        'try again, let Coder forget it and sweep, or it was dealt with outside (a landing: only close)',
      )
        .choices(['retry', 'orphan', 'close'])
        .makeOptionMandatory(),
    )
    .requiredOption('--reason <text>', 'why; it is on record');
  exampleHelp(
    resolve,
    'portcullis incident resolve verifier-0123456789abcdef0123 --ruling retry --reason "disk freed"',
  );
  noun.addCommand(
    action(resolve, async (context, { args }) => {
      const { resolveIncident } = await import('../workspace/show.ts');
      const { ruling, reason } = resolve.opts<{ ruling: 'retry' | 'orphan' | 'close'; reason: string }>();
      return resolveIncident(context, args[0] ?? '', ruling, reason);
    }),
  );
  return noun;
}

function listing(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(new Option('--limit <n>', 'at most so many').default('50'));
}
