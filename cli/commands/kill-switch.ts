/** `portcullis kill-switch`: stops a tenant, or the whole installation, from being asked for anything new. */
import { Command } from 'commander';
import { action, exampleHelp } from '../program.ts';

interface TurnFlags {
  readonly reason: string;
  readonly installation?: boolean;
  readonly cancelRunning?: boolean;
}

export function killSwitchCommand(): Command {
  const noun = new Command('kill-switch').description('refuse every new request, with a reason that is on record');

  const on = turnVerb('on', 'refuse every new request from now on').option(
    '--cancel-running',
    'also cancel the verifications that run now',
  );
  exampleHelp(on, 'portcullis kill-switch on --reason "a leaked credential" --cancel-running');
  noun.addCommand(turning(on, true));

  const off = turnVerb('off', 'take requests again');
  exampleHelp(off, 'portcullis kill-switch off --reason "the credential is revoked"');
  noun.addCommand(turning(off, false));

  const status = new Command('status').description('show whether a kill switch is on, since when, by whom and why');
  exampleHelp(status, 'portcullis kill-switch status', 'portcullis kill-switch status --json');
  noun.addCommand(
    action(status, async (context) => {
      const { showKillSwitch } = await import('../kill-switch/turn.ts');
      return showKillSwitch(context);
    }),
  );
  return noun;
}

function turnVerb(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .requiredOption('--reason <text>', 'why; it is shown to whoever is refused, and audited')
    .option('--installation', 'the switch of every tenant; only where this installation has one');
}

function turning(command: Command, on: boolean): Command {
  return action(command, async (context) => {
    const { turnKillSwitch } = await import('../kill-switch/turn.ts');
    const { reason, installation, cancelRunning } = command.opts<TurnFlags>();
    const scope = installation === true ? 'installation' : 'tenant';
    return turnKillSwitch(context, { on, reason, scope, cancelRunning: cancelRunning === true });
  });
}
