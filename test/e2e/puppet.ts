/**
 * The agent of a workspace whose test says what it does: it follows the newest note that is for it on the desk, a directory of the
 * test's that every workspace sees. A note is for one workspace (`T-1.sentinel.5`) or for a phase (`T-1.sentinel.plan_review`).
 *
 * `hold` waits for another note; anything else is a shell script in the checkout, with the scripted agent as `$SCRIPTED`. Without
 * a note it is the scripted agent. It runs inside, so it imports nothing of ours.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const [desk = '/', scripted = 'false'] = process.argv.slice(2);

function noteFor(names: readonly string[]): string {
  for (const name of names) {
    try {
      return readFileSync(join(desk, name), 'utf8');
    } catch {
      // There is none of this name.
    }
  }
  return 'exec $SCRIPTED';
}

function member(value: unknown, name: string): unknown {
  return Reflect.get(Object(value), name);
}

const context: unknown = JSON.parse(execFileSync('portcullis', ['context'], { encoding: 'utf8' }));
const who = `${String(member(context, 'pair'))}.${String(member(context, 'role'))}`;
const phase = String(member(member(context, 'assignment'), 'phase'));
const names = [`${who}.${String(member(context, 'workspaceGeneration'))}`, `${who}.${phase}`];

let note = noteFor(names);
for (; note.trim() === 'hold'; note = noteFor(names)) await delay(50);
const { status } = spawnSync('/bin/sh', ['-c', note], {
  stdio: 'inherit',
  env: { ...process.env, SCRIPTED: scripted },
});
process.exitCode = status ?? 1;
