/** Writes `examples/gate/` from its scenarios: `node scripts/gate-examples.ts`. A test compares, so it cannot lag behind. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PRECEDENCE } from '../policies/gates/precedence.ts';
import { REASONS } from '../policies/gates/reasons.ts';
import { AS_OF } from '../test/support/gate-fixtures.ts';
import type { Scenario } from '../test/support/gate-scenario.ts';
import { SCENARIOS } from '../test/support/gate-scenarios.ts';
import { DECISION_EXIT } from '../cli/commands/gate-eval.ts';

export const GATE_EXAMPLES = fileURLToPath(new URL('../examples/gate/', import.meta.url));

/** Every file of the directory with its text. */
export function gateExampleFiles(): ReadonlyMap<string, string> {
  const files = new Map(SCENARIOS.map((scenario) => [`${scenario.name}.json`, requestText(scenario)]));
  files.set('README.md', readme());
  return files;
}

function requestText({ note, world, evidence }: Scenario): string {
  const { subject, policy, definition } = world;
  return json({ note, subject, evidence, policy, definition, asOf: new Date(AS_OF).toISOString() });
}

function readme(): string {
  const rows = SCENARIOS.map(({ name, note, decision, codes }) => {
    const deciding = codes[0] === undefined ? '' : ` (case ${PRECEDENCE[REASONS[codes[0]].case].number})`;
    const reasons = codes.length === 0 ? 'none' : [...new Set(codes)].map((code) => `\`${code}\``).join(' ');
    return `| [${name}](${name}.json) | \`${decision}\`${deciding}, exit ${DECISION_EXIT[decision]} | ${reasons} | ${note} |`;
  });
  return [
    '# Gate requests to try',
    '',
    'Each file is one evaluation with everything inline. `portcullis gate eval FILE` recomputes every digest and says what the gate',
    'decides and why; change a byte of a subject and see the evidence become foreign. Written by `scripts/gate-examples.ts`; a test',
    'walks them all. `docs/how-a-decision-is-made.md` goes through one by hand.',
    '',
    '| request | decision | reasons | what to see in it |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(GATE_EXAMPLES, { recursive: true });
  const files = gateExampleFiles();
  for (const name of readdirSync(GATE_EXAMPLES)) if (!files.has(name)) rmSync(join(GATE_EXAMPLES, name));
  for (const [name, text] of files) writeFileSync(join(GATE_EXAMPLES, name), text);
  process.stderr.write(`${files.size} files in ${GATE_EXAMPLES}\n`);
}
