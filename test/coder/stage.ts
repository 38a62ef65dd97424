/** A port connected to a replay of recorded exchanges. */
import { afterEach, expect } from 'vitest';
import { connectCoder } from '../../activities/coder/connect.ts';
import type { CoderPort } from '../../activities/coder/port.ts';
import type { CoderOptions } from '../../activities/coder/settings.ts';
import type { Exchange } from './recordings.ts';
import { type Replay, type Scripted, startReplay } from './replay-server.ts';

export const TOKEN = 'abcdefghij-secretsecretsecretsecre';
/** The parameter that the recorded workspaces carried their run in. */
export const RUN_PARAMETER = 'ticket';

export const WORKSPACE = 'a2966767-8d91-480e-8a9b-c475ef784e4c';

const open: Replay[] = [];

export interface Stage {
  readonly coder: CoderPort;
  readonly replay: Replay;
  /** Methods and paths that came, without query. */
  readonly calls: () => string[];
}

export async function stage(
  script: readonly (Exchange | Scripted)[],
  options: Partial<CoderOptions> = {},
): Promise<Stage> {
  const replay = await startReplay(script);
  open.push(replay);
  const coder = connectCoder({ url: replay.url, token: TOKEN, ...options }, RUN_PARAMETER);
  const calls = () => replay.received.map(({ method, path }) => `${method} ${path.split('?')[0] ?? ''}`);
  return { coder, replay, calls };
}

/** Closes what the test opened, and fails it when something was asked for that the script does not have. */
afterEach(async () => {
  const replays = open.splice(0);
  await Promise.all(replays.map((replay) => replay.close()));
  expect(replays.flatMap(({ unscripted }) => unscripted)).toEqual([]);
});

export function failing(code: string, details: Record<string, unknown> = {}) {
  return expect.objectContaining({ code, details: expect.objectContaining(details) as unknown }) as Error;
}
