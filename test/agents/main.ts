/**
 * `npm run agents [-- claude|codex|pi …] [--keep DIRECTORY]`: real CLIs as agents of the example ticket, one after the other, each
 * freshly installed from the npm registry, with a fake model host. Exits 1 when something does not hold. `--keep`: where the
 * stack's logs go then.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { AGENT_PRESETS } from '../../local/coder/runtime/presets.ts';
import { tryCli } from './trial.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { keep: { type: 'string' } } });
const unknown = positionals.filter((name) => !AGENT_PRESETS.some((preset) => preset === name));
if (unknown.length > 0) throw new Error(`no preset: ${unknown.join(', ')}; there are ${AGENT_PRESETS.join(', ')}`);

const began = performance.now();
const say = (text: string) => {
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}\n`);
};

for (const preset of AGENT_PRESETS.filter((name) => positionals.length === 0 || positionals.includes(name))) {
  const trial = await tryCli(preset, {
    say,
    onFault: ({ paths }) => {
      if (values.keep !== undefined) cpSync(paths.logs, join(values.keep, `logs-${preset}`), { recursive: true });
    },
  });
  const calls = Object.entries(trial.calls).map(([role, count]) => `${role} ${count}`);
  const told = [`${trial.rejected} rejected on the way`, `model calls: ${calls.join(', ')}`];
  process.stdout.write(`${trial.cli}: ticket in ${trial.seconds.toFixed(0)} s, ${told.join('; ')}\n`);
  for (const fault of trial.faults) process.stdout.write(`FAULT ${fault}\n`);
  if (trial.faults.length > 0) process.exitCode = 1;
}
