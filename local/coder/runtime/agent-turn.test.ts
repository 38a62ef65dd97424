import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TurnMessage } from '../runtime.ts';
import { askForTurn, turnCommand } from './agent-turn.ts';
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

describe('a turn whose harness goes away before it says how it ended', () => {
  let directory: string;
  let harness: Server;
  let said: TurnMessage[];
  let interrupt: AbortController;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'portcullis-turn-'));
    said = [];
    interrupt = new AbortController();
  });
  afterEach(() => {
    harness.close();
    rmSync(directory, { recursive: true, force: true });
  });

  /** @param then what the harness does once it has told of some progress */
  async function ask(then: () => void) {
    const channel = join(directory, 'channel');
    harness = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write(`${JSON.stringify({ event: 'progress', text: 'last words' })}\n`, () => setTimeout(then, 100));
        setTimeout(() => socket.destroy(), 200);
      });
    });
    await new Promise<void>((resolve) => harness.listen(channel, resolve));
    const watch = { signal: interrupt.signal, message: (message: TurnMessage) => said.push(message) };
    return askForTurn(channel, turnCommand(codex, turn), watch);
  }

  test('is heard to its last words', async () => {
    expect(await ask(() => {})).toEqual({ outcome: 'no_agent' });
    expect(said).toEqual([{ role: 'tool', command: codex.argv[0], output: 'last words', exitCode: 0 }]);
  });

  test('is heard no more when it was interrupted', async () => {
    expect(await ask(() => interrupt.abort())).toEqual({ outcome: 'interrupted' });
    expect(said).toEqual([]);
  });
});
