/** The `portcullis` command: what all commands share, and the list of them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError, Option } from 'commander';
import { PACKAGE_ROOT } from '../local/package-root.ts';
import { ERROR_CATALOGUE, portcullisError } from '../schemas/errors.ts';
import { SETTINGS, type SettingKey } from '../schemas/settings.ts';
import { commandOutput, createContext, flagsOf, type CliContext } from './context.ts';
import { createOutput } from './output.ts';

/** A command's work: its exit code, 0 when it answers nothing. */
export type CommandWork = (context: CliContext, command: Command) => Promise<number | undefined> | number | undefined;

/** Settings whose flags every command takes. */
const COMMON_SETTINGS = [
  'state.dir',
  'config.file',
  'credential.file',
  'tenant',
  'gateway.url',
  'temporal.address',
  'temporal.namespace',
  'log.level',
] as const satisfies readonly SettingKey[];

export function createProgram(): Command {
  const program = new Command('portcullis')
    .description("The control plane that decides whether a coding agent's work may pass.")
    .version(packageVersion(), '--version', 'print the version')
    .option('--json', 'print one JSON object (a stream prints one a line)')
    .option('--no-color', 'no colours (as NO_COLOR)')
    .option('--debug', 'print the stack of an error')
    .configureHelp({ showGlobalOptions: true })
    .helpCommand(false)
    .exitOverride();
  for (const key of COMMON_SETTINGS) program.addOption(settingOption(key));
  return program;
}

/** The flag of a setting. */
export function settingOption(key: SettingKey): Option {
  const { flag, doc, env } = SETTINGS[key];
  const [sentence = doc] = doc.split('. ');
  return new Option(`--${flag ?? key} <value>`, `${sentence.replace(/\.$/, '')} (${env})`);
}

/** A command with an example in its help. */
export function exampleHelp(command: Command, ...examples: readonly string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${examples.map((line) => `  $ ${line}`).join('\n')}`);
}

/** Gives a command its work: context made, errors printed by their code, exit code set. */
export function action(command: Command, work: CommandWork): Command {
  return command.exitOverride().action(async () => {
    process.exitCode = await runWork(command, work);
  });
}

/** Runs the program. @returns the exit code */
export async function runProgram(program: Command, argv: readonly string[]): Promise<number> {
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version end with 0 there; everything else is a wrong call, which commander has explained on stderr already.
    return error.exitCode === 0 ? 0 : usageError(error, argv);
  }
}

/** With `--json` a wrong call is answered by an object too, like every other error. */
function usageError({ code, message }: CommanderError, argv: readonly string[]): number {
  const end = argv.indexOf('--');
  const json = (end < 0 ? argv : argv.slice(0, end)).includes('--json');
  const reason = code === 'commander.help' ? 'A command is missing.' : message.replace(/^error: /, '');
  const silent = { write: () => {} };
  const streams = { stdout: json ? process.stdout : silent, stderr: silent };
  return createOutput({ json, debug: false, color: false }, streams).error(portcullisError('usage', { reason }));
}

async function runWork(command: Command, work: CommandWork): Promise<number> {
  const flags = flagsOf(command);
  const environment = process.env;
  const output = commandOutput(flags, environment);
  const { signal, release } = interruption();
  try {
    return (await work(createContext(flags, environment, signal, output), command)) ?? 0;
  } catch (error) {
    return output.error(signal.aborted ? portcullisError('interrupted', {}, error) : error);
  } finally {
    release();
  }
}

/**
 * The first Ctrl-C or TERM asks the work to end in order; the second ends the process. Nobody reading any more
 * (`… | head -1`) asks for the same: what was started must not go on unseen.
 */
function interruption(): { readonly signal: AbortSignal; readonly release: () => void } {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(ERROR_CATALOGUE.interrupted.exit);
    controller.abort(name);
  };
  const onStreamError = (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') controller.abort('EPIPE');
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  for (const stream of [process.stdout, process.stderr]) stream.on('error', onStreamError);
  return {
    signal: controller.signal,
    release: () => {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
      for (const stream of [process.stdout, process.stderr]) stream.off('error', onStreamError);
    },
  };
}

export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'));
  const version: unknown = Reflect.get(Object(manifest), 'version');
  return typeof version === 'string' ? version : 'unknown';
}
