import { Command } from 'commander';
import { afterEach, expect, test } from 'vitest';
import { addCommands } from './commands/index.ts';
import { action, createProgram, runProgram, settingOption } from './program.ts';
import type { CliContext } from './context.ts';

afterEach(() => {
  process.exitCode = 0;
});

function quiet(program: Command): Command {
  const silence = { writeOut: () => {}, writeErr: () => {} };
  const all = (command: Command): void => {
    command.configureOutput(silence);
    command.commands.forEach(all);
  };
  all(program);
  return program;
}

function withCommands(): Command {
  const program = createProgram();
  addCommands(program);
  return quiet(program);
}

test.each([
  [['--version'], 0],
  [['--help'], 0],
  [['up', '--help'], 0],
  [['nonsense'], 2],
  [['status', '--nonsense'], 2],
  [['status', 'too-much'], 2],
  [['replay'], 2],
  [['verify', '--repo', '.'], 2],
  [[], 2],
])('%j ends with %i', async (argv, code) => {
  expect(await runProgram(withCommands(), argv)).toBe(code);
});

async function seenBy(argv: readonly string[]): Promise<CliContext | undefined> {
  let seen: CliContext | undefined;
  const command = new Command('look').addOption(settingOption('keys.dir'));
  const program = createProgram().addCommand(
    action(command, (context) => {
      seen = context;
      return 7;
    }),
  );
  expect(await runProgram(quiet(program), argv)).toBe(7);
  return seen;
}

test('settings come from flags before and behind the command', async () => {
  const context = await seenBy(['--tenant', 'acme', 'look', '--keys-dir', '/keys', '--state-dir', '/nowhere']);
  expect(context?.settings.get('tenant')).toBe('acme');
  expect(context?.settings.origin('tenant')).toBe('flag');
  expect(context?.settings.get('keys.dir')).toBe('/keys');
  expect(context?.settings.get('repositories.dir')).toBe('/nowhere/repositories');
});

test('an error thrown by a command becomes its exit code', async () => {
  const command = new Command('fail');
  const program = createProgram().addCommand(action(command, () => 0));
  expect(await runProgram(quiet(program), ['--tenant', 'a/b', 'fail'])).toBe(2);
});
