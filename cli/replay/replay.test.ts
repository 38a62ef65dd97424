import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createOutput } from '../output.ts';
import { replayDirectory } from './replay.ts';

const HISTORY = join(import.meta.dirname, '..', '..', 'test', 'histories', 'closePair', 'closed.json');

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'portcullis-replay-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

async function replay() {
  const said = { stdout: '', stderr: '' };
  const stdout = { write: (chunk: string | Uint8Array) => (said.stdout += String(chunk)) };
  const stderr = { write: (chunk: string) => (said.stderr += chunk) };
  const output = createOutput({ json: true, debug: false, color: false }, { stdout, stderr });
  const code = await replayDirectory(directory, join(directory, '.cache'), output);
  return { code, said };
}

test('with a history that differs, --json prints one object and the exit code says it', async () => {
  cpSync(HISTORY, join(directory, 'good.json'));
  const other = readFileSync(HISTORY, 'utf8').replaceAll('"closePair"', '"openPair"');
  writeFileSync(join(directory, 'other.json'), other);
  const { code, said } = await replay();
  expect(JSON.parse(said.stdout)).toMatchObject({ kind: 'Replay', total: 2, failed: 1 });
  expect(code).toBe(1);
  expect(said.stderr).toContain('error replay_failed: 1 of 2 histories do not replay.');
}, 60_000);

test.each(['{}', '[]', '"text"', 'no json', '{"events":[]}', '{"events":[7]}', '{"events":[{"eventId":{}}]}'])(
  'a file that holds %s is no history, and that has a name',
  async (text) => {
    writeFileSync(join(directory, 'package.json'), text);
    await expect(replay()).rejects.toMatchObject({ code: 'history_invalid', details: { file: 'package.json' } });
  },
);

test('[inv-20] a step that the code of today does not take ends the replay with a failure that names the history', async () => {
  const recorded = join(HISTORY, '..', '..', 'workspace', 'gone-after-release.json');
  cpSync(recorded, join(directory, 'as-recorded.json'));
  const planned = readFileSync(recorded, 'utf8').replaceAll('"name":"createWorkspace"', '"name":"createSomethingElse"');
  writeFileSync(join(directory, 'planned.json'), planned);
  const { code, said } = await replay();
  expect(code).toBe(1);
  expect(JSON.parse(said.stdout)).toMatchObject({
    failed: 1,
    items: [
      { history: 'as-recorded.json', replays: true },
      { history: 'planned.json', replays: false },
    ],
  });
}, 60_000);
