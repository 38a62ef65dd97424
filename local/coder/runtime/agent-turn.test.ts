import { expect, test } from 'vitest';
import { turnCommand } from './agent-turn.ts';
import { agentPreset } from './presets.ts';

const choices = { directory: null, model: null };
const codex = agentPreset('codex', choices);
const claude = agentPreset('claude', choices);

const turn = { prompt: 'do it; rm -rf "$HOME"', history: [] };

test('a prompt is handed over beside the command, which is the operator’s word for word', () => {
  expect(turnCommand(codex, turn)).toMatchObject({ argv: codex.argv, prompt: turn.prompt });
});

test('a later turn resumes the session of the command', () => {
  const later = {
    prompt: 'go on',
    history: [
      { role: 'user', text: 'a' },
      { role: 'assistant', text: 'b' },
    ],
  } as const;
  expect(turnCommand(claude, later).argv).toContain('--continue');
  expect(turnCommand(claude, { ...later, history: later.history.slice(0, 1) }).argv).not.toContain('--continue');
});
