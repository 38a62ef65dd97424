/** The pages of `docs/reference/` that are made from code, so that they cannot say anything else than the code does. */
import type { Command } from 'commander';
import { addCommands } from '../../cli/commands/index.ts';
import { createProgram } from '../../cli/program.ts';
import { ERROR_CATALOGUE, type ErrorCode } from '../../schemas/errors.ts';
import { SETTINGS, SETTING_KEYS } from '../../schemas/settings.ts';
import { attacksPage } from './attacks-page.ts';
import { cell, markdownTable, page } from './markdown.ts';
import { temporalPage } from './temporal-page.ts';
import { ticketsPage } from './tickets-page.ts';
import { workspacesPage } from './workspaces-page.ts';

/** File name to text. */
export function referencePages(): Readonly<Record<string, string>> {
  return {
    'errors.md': errorsPage(),
    'settings.md': settingsPage(),
    'exit-codes.md': exitCodesPage(),
    'cli.md': cliPage(),
    'command-attacks.md': attacksPage(),
    'temporal-contract.md': temporalPage(),
    'tickets.md': ticketsPage(),
    'workspaces.md': workspacesPage(),
  };
}

function errorsPage(): string {
  const rows = codes().map((code) => {
    const { message, mend, http, grpc, rpc, exit } = ERROR_CATALOGUE[code];
    return [`\`${code}\``, cell(message), cell(mend), http, grpc, rpc, exit];
  });
  return page(
    'Errors',
    'Every error has a code that stays, a sentence, and what to do about it. `{name}` is filled in when it happens. Each edge answers the numbers of its row.',
    markdownTable(['Code', 'Sentence', 'What to do', 'HTTP', 'gRPC', 'A2A', 'Exit'], rows),
  );
}

function settingsPage(): string {
  const rows = SETTING_KEYS.map((key) => {
    const { flag, env, default: fallback, secret, doc } = SETTINGS[key];
    return [
      `\`${key}\``,
      flag === null ? '' : `\`--${flag}\``,
      `\`${env}\``,
      fallback === null ? '' : `\`${fallback}\``,
      secret ? 'yes' : '',
      cell(doc),
    ];
  });
  const intro =
    'Looked for in this order: flag, environment, file, default. The file is one flat JSON object with the names of the first column. `portcullis config show` says where each came from; secrets are hidden there.';
  return page(
    'Settings',
    intro,
    markdownTable(['Setting', 'Flag', 'Environment', 'Default', 'Secret', 'Meaning'], rows),
  );
}

/** What each exit code means; the errors that end with it are taken from the catalogue. */
const EXIT_MEANINGS: Readonly<Record<number, string>> = {
  0: 'satisfied, pass, allowed, parsed, done',
  1: 'operational error',
  2: 'usage',
  3: 'not satisfied (also timed out), rework, refused by policy, verdict REJECTED whatever its route',
  4: 'human required',
  5: 'blocked, unavailable, lost, unpersisted, cancelled, failed to start or to prepare, kill switch, store full, verdict UNPARSEABLE',
  6: 'not found',
  7: 'not allowed (credential, role, pair)',
  8: 'does not apply (stale)',
  9: 'stream cut before the end, or waited too long',
  130: 'interrupted',
};

function exitCodesPage(): string {
  const rows = Object.entries(EXIT_MEANINGS).map(([exit, meaning]) => {
    const errors = codes().filter((code) => ERROR_CATALOGUE[code].exit === Number(exit));
    return [exit, meaning, errors.map((code) => `\`${code}\``).join(' ')];
  });
  const intro = 'The same for every command. The errors of a row are described in [errors](errors.md).';
  return page('Exit codes', intro, markdownTable(['Exit', 'When', 'Errors'], rows));
}

function cliPage(): string {
  const program = createProgram();
  addCommands(program);
  const intro =
    'Data goes to stdout, progress and errors to stderr. In a clone the command is `npx portcullis`. Flags that every command takes are listed once, at the top.';
  const commands = leaves(program).map((command) => `## ${nameOf(command)}\n\n\`\`\`\n${helpOf(command)}\n\`\`\``);
  return page('Commands', intro, [`\`\`\`\n${helpOf(program)}\n\`\`\``, ...commands].join('\n\n'));
}

/** Commands that do something, depth first. */
function leaves(command: Command): readonly Command[] {
  return command.commands.flatMap((child) => (child.commands.length === 0 ? [child] : leaves(child)));
}

function nameOf(command: Command): string {
  return command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => (text += part),
    getOutHelpWidth: () => 110,
    getOutHasColors: () => false,
  });
  command.configureHelp({ showGlobalOptions: false });
  command.outputHelp();
  return text.trim();
}

function codes(): readonly ErrorCode[] {
  return (Object.keys(ERROR_CATALOGUE) as ErrorCode[]).toSorted();
}
