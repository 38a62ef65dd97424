import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, expect, test, vi } from 'vitest';
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

const GROUPS = ['task', 'policy', 'config', 'evidence', 'finding', 'gate', 'keys', 'kill-switch', 'serve', 'verdict'];

test.each<[readonly string[], number]>([
  [['--version'], 0],
  [['--help'], 0],
  [['up', '--help'], 0],
  [['nonsense'], 2],
  [['status', '--nonsense'], 2],
  [['status', 'too-much'], 2],
  [['replay'], 2],
  [['verify', '--repo', '.'], 2],
  [[], 2],
  ...GROUPS.flatMap((noun): [readonly string[], number][] => [
    [[noun], 2],
    [[noun, 'bogus'], 2],
    [[noun, '--help'], 0],
  ]),
])('%j ends with %i', async (argv, code) => {
  expect(await runProgram(withCommands(), argv)).toBe(code);
});

test.each([[['nonsense', '--json']], [['task', '--json']], [['task', 'bogus', '--json']], [['replay', '--json']]])(
  '%j answers one error object',
  async (argv) => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    try {
      expect(await runProgram(withCommands(), argv)).toBe(2);
      const said = write.mock.calls.map(([chunk]) => String(chunk)).join('');
      expect(JSON.parse(said)).toMatchObject({ schema: 'portcullis/v1', kind: 'Error', code: 'usage', exit: 2 });
    } finally {
      write.mockRestore();
    }
  },
);

test('a --json of the command to run is not ours', async () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    expect(await runProgram(withCommands(), ['nonsense', '--', '--json'])).toBe(2);
    expect(write).not.toHaveBeenCalled();
  } finally {
    write.mockRestore();
  }
});

test('a reader that leaves asks the work to end in order', async () => {
  let ended = false;
  const command = action(new Command('stay'), async ({ signal }) => {
    const closed = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    process.stdout.emit('error', closed);
    await aborted;
    ended = true;
    throw new Error('stopped half-way');
  });
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    expect(await runProgram(quiet(createProgram().addCommand(command)), ['stay'])).toBe(130);
  } finally {
    write.mockRestore();
  }
  expect(ended).toBe(true);
});

test('output that nobody reads ends without a stack', async () => {
  const main = join(import.meta.dirname, 'main.ts');
  const child = spawn(process.execPath, [main, 'config', 'show'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  await once(child, 'close');
  expect({ code: child.exitCode, stderr }).toEqual({ code: 0, stderr: '' });
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
