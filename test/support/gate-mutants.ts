/**
 * Mutants: the evaluator's own source with one thing broken, loaded beside the real one. A property that does not notice any of
 * its mutants proves nothing.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Evaluate, GateProperty } from './gate-properties.ts';

export interface Mutant {
  /** What it gets wrong. */
  readonly name: string;
  readonly caughtBy: GateProperty;
  /** File of `policies/gates/`. */
  readonly file: string;
  /** Must be in the file exactly once. */
  readonly find: string;
  readonly replace: string;
}

const ONE = 'exactly one decision, and it follows from its reasons';
const SOUND = 'a pass has nothing against it and nothing missing';
const MONOTONE = 'no non-pass becomes a pass by taking positive evidence away or adding other evidence';
const ORDER = 'the order of inputs is irrelevant';
const BYTES = 'equal inputs give equal bytes';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'within a case the mildest outcome decides',
    caughtBy: ONE,
    file: 'precedence.ts',
    find: 'STRICTNESS[hit.outcome] > STRICTNESS[strictest]',
    replace: 'STRICTNESS[hit.outcome] < STRICTNESS[strictest]',
  },
  {
    name: 'the last case that is hit decides',
    caughtBy: ONE,
    file: 'precedence.ts',
    find: 'for (const name of GATE_CASES)',
    replace: 'for (const name of GATE_CASES.toReversed())',
  },
  {
    name: 'an override makes it throw',
    caughtBy: ONE,
    file: 'sort-evidence.ts',
    find: 'sorting.humans.push(record);',
    replace: "if (record.case !== null) throw new Error('unexpected');\n      sorting.humans.push(record);",
  },
  {
    name: 'the newest attempt of a check wins',
    caughtBy: SOUND,
    file: 'judge-checks.ts',
    find: 'if (tally.failedAt !== null) {',
    replace: 'if (tally.failedAt !== null && tally.satisfiedAt === null) {',
  },
  {
    name: 'a record that the store does not have is left out',
    caughtBy: SOUND,
    file: 'sort-evidence.ts',
    find: 'sorting.hit(PROBLEM_CODES[item.problem], item.digest);',
    replace: "if (item.problem !== 'missing') sorting.hit(PROBLEM_CODES[item.problem], item.digest);",
  },
  {
    name: 'a criterion that one run passed is passed',
    caughtBy: SOUND,
    file: 'judge-criteria.ts',
    find: 'if (about.failedAt !== null) {',
    replace: 'if (about.failedAt !== null && !about.supported) {',
  },
  {
    name: 'one principal fills any number of seats',
    caughtBy: SOUND,
    file: 'seats.ts',
    find: 'if (asked.has(person)) continue;',
    replace: 'if (seatOf.size > 0) return true;',
  },
  {
    name: 'a failed check counts as done',
    caughtBy: MONOTONE,
    file: 'judge-checks.ts',
    find: 'tally.failedAt = Math.max(tally.failedAt ?? 0, at);',
    replace: 'tally.satisfiedAt = Math.max(tally.satisfiedAt ?? 0, at);',
  },
  {
    name: 'an override covers what came after it',
    caughtBy: MONOTONE,
    file: 'evaluate.ts',
    find: ' && hit.at <= upTo',
    replace: '',
  },
  {
    name: 'a contradiction outlives the overridden failure it is about',
    caughtBy: MONOTONE,
    file: 'evaluate.ts',
    find: ' || (hit.about !== undefined && !standing.has(hitKey(hit.about)))',
    replace: '',
  },
  {
    name: 'an approval answers what a verifier leaves to a person later',
    caughtBy: MONOTONE,
    file: 'judge-findings.ts',
    find: ' || record.observedAt > support.approvedAt',
    replace: '',
  },
  {
    name: 'the last pass in the list says how long the decision holds',
    caughtBy: ORDER,
    file: 'judge-checks.ts',
    find: 'tally.satisfiedAt = Math.max(tally.satisfiedAt ?? 0, at);',
    replace: 'tally.satisfiedAt = at;',
  },
  {
    name: 'whoever comes first keeps the seat',
    caughtBy: ORDER,
    file: 'seats.ts',
    find: 'taken === undefined || place(seats, taken, seatOf, asked)',
    replace: 'taken === undefined',
  },
  {
    name: 'reasons come in the order of the evidence',
    caughtBy: ORDER,
    file: 'evaluate.ts',
    find: '[...reasons.values()].sort(inOrder)',
    replace: '[...reasons.values()]',
  },
  {
    name: 'the evaluator has a clock of its own',
    caughtBy: BYTES,
    file: 'evaluate.ts',
    find: 'validUntil: earliest(checks.validUntil, humans.validUntil),',
    replace: 'validUntil: performance.now(),',
  },
  {
    name: 'a decision is cached by its subject alone',
    caughtBy: SOUND,
    file: 'evaluate.ts',
    find: 'return evaluate(input);',
    replace:
      'const cache = ((globalThis as { gateCache?: Map<string, Evaluation> }).gateCache ??= new Map());\n' +
      '    const made = cache.get(input.subject.digest) ?? evaluate(input);\n' +
      '    cache.set(input.subject.digest, made);\n' +
      '    return made;',
  },
  {
    name: 'which reason is listed is drawn by lot',
    caughtBy: BYTES,
    file: 'evaluate.ts',
    find: 'for (const hit of hits) {',
    replace: 'for (const hit of hits) {\n    if (Math.random() < 0.01) continue;',
  },
];

const GATES = fileURLToPath(new URL('../../policies/gates', import.meta.url));
const SCHEMAS = fileURLToPath(new URL('../../schemas', import.meta.url));

/** Copies of the evaluator in a directory of their own; `remove` takes it away. */
export class MutantNursery {
  private readonly root = mkdtempSync(join(tmpdir(), 'portcullis-mutants-'));
  private bred = 0;

  /** The mutated evaluator. Fails when the source no longer has what the mutant breaks. */
  async breed(mutant: Mutant): Promise<Evaluate> {
    this.bred += 1;
    const home = join(this.root, String(this.bred));
    const gates = join(home, 'policies', 'gates');
    const isSource = (name: string) => name.endsWith('.ts') && !name.endsWith('.test.ts');
    for (const name of readdirSync(GATES).filter(isSource)) cpSync(join(GATES, name), join(gates, name));
    symlinkSync(SCHEMAS, join(home, 'schemas'));
    const file = join(gates, mutant.file);
    const parts = readFileSync(file, 'utf8').split(mutant.find);
    if (parts.length !== 2) {
      throw new Error(
        `${mutant.file} has ${parts.length - 1} times what the mutant "${mutant.name}" breaks; adjust it`,
      );
    }
    writeFileSync(file, parts.join(mutant.replace));
    const module: unknown = await import(/* @vite-ignore */ join(gates, 'evaluate.ts'));
    const evaluate: unknown = Reflect.get(Object(module), 'evaluateGate');
    if (typeof evaluate !== 'function') throw new Error('The mutant exports no evaluateGate.');
    return evaluate as Evaluate;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
