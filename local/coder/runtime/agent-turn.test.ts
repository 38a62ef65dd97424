import { expect, test } from 'vitest';
import { turnCommand } from './agent-turn.ts';
import { AGENT_PRESETS } from './settings.ts';

const turn = { prompt: 'do it; rm -rf "$HOME"', history: [] };

test('a prompt comes on standard input, or as one argument where the template says so', () => {
  expect(turnCommand(AGENT_PRESETS.codex, turn)).toMatchObject({ argv: AGENT_PRESETS.codex.argv, stdin: turn.prompt });
  expect(turnCommand(AGENT_PRESETS.pi, turn)).toMatchObject({ argv: ['pi', '--print', turn.prompt], stdin: '' });
});

test('a later turn resumes the session of the command', () => {
  const later = {
    prompt: 'go on',
    history: [
      { role: 'user', text: 'a' },
      { role: 'assistant', text: 'b' },
    ],
  } as const;
  expect(turnCommand(AGENT_PRESETS.claude, later).argv).toContain('--continue');
  expect(turnCommand(AGENT_PRESETS.claude, { ...later, history: later.history.slice(0, 1) }).argv).not.toContain(
    '--continue',
  );
});
