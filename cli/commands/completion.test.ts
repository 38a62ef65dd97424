import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { createProgram } from '../program.ts';
import { completionScript } from './completion.ts';
import { addCommands } from './index.ts';

function program() {
  const made = createProgram();
  addCommands(made);
  return made;
}

function completedByBash(...words: string[]): readonly string[] {
  const quoted = ['portcullis', ...words].map((word) => `'${word}'`).join(' ');
  const ask = `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _portcullis; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const script = `${completionScript('bash', program())}\n${ask}`;
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
}

test('bash completes commands, verbs and flags', () => {
  expect(completedByBash('st')).toEqual(['status']);
  expect(completedByBash('task', 's')).toEqual(['show']);
  expect(completedByBash('task', 'show', '--std')).toEqual(
    ['--stdout', '--stderr'].filter((flag) => flag.startsWith('--std')),
  );
  expect(completedByBash('--json', 'task', '')).toEqual(expect.arrayContaining(['list', 'show', 'watch', 'cancel']));
});

test('what follows -- is another program’s', () => {
  expect(completedByBash('verify', '--', 'st')).toEqual(['']);
});

test('zsh and fish get a script too', () => {
  expect(completionScript('zsh', program())).toContain('bashcompinit');
  expect(completionScript('fish', program())).toContain(
    "complete -c portcullis -f -n '__fish_use_subcommand' -a status",
  );
});
