/** The attacks on command verification as data: `policies/commands/attacks.json`, read strictly. */
import { z } from 'zod';
import document from '../../policies/commands/attacks.json' with { type: 'json' };

const word = z.union([z.string(), z.strictObject({ repeat: z.string(), times: z.int().min(1) })]);
const common = {
  /** Of the table of tried attacks up to 38; later ones are our own. */
  row: z.int().min(1),
  attempt: z.string().min(1),
  /**
   * `refused`: nothing is dispatched. `neutralised`: accepted, and does not run. `contained`: runs, inside the sandbox only.
   * `not_evidence`: a green exit that the counts do not take for one.
   */
  answer: z.enum(['refused', 'neutralised', 'contained', 'not_evidence']),
  rule: z.string().min(1),
};
const refused = { ...common, answer: z.literal('refused'), reason: z.string().min(1) };

const attack = z.discriminatedUnion('walk', [
  z.strictObject({ ...refused, walk: z.literal('policy'), argv: z.union([z.array(word), word]) }),
  z.strictObject({ ...refused, walk: z.literal('request'), request: z.string() }),
  z.strictObject({
    ...common,
    walk: z.literal('tool'),
    run: z.string(),
    /** What the output must hold: the attack runs, contained. */
    says: z.string().min(1).optional(),
    /** What must be nowhere in the output, nor a file outside the copy. */
    never: z.string().min(1).optional(),
  }),
  z.strictObject({
    ...common,
    walk: z.literal('test'),
    file: z.string(),
    /** The name of one test of it, which `attack-reporter.ts` sees run and pass. */
    test: z.string(),
    /** A tool without which it is skipped. */
    needs: z.string().optional(),
  }),
]);

const count = z.int().min(0).optional();
const run = z.strictObject({
  argv: z.array(z.string()),
  /** A tool that must be here besides the command's own. */
  needs: z.string().optional(),
  /** Whether the files are a producer's live tree instead of a commit. `{outside}` in them is a directory outside it. */
  worktree: z.boolean().default(false),
  files: z.record(z.string(), z.union([z.string(), z.strictObject({ text: z.string(), mode: z.int() })])),
  expect: z.strictObject({
    exit_code: z.int(),
    tests: z.union([
      z.literal('unknown'),
      z.null(),
      z.strictObject({ executed: z.int().min(0), passed: count, failed: count, skipped: count }),
    ]),
  }),
});

export type Attack = z.infer<typeof attack>;
export type AttackRun = z.infer<typeof run>;

const parsed = z
  .strictObject({ about: z.string(), attacks: z.array(attack), runs: z.record(z.string(), run) })
  .parse(document);

export const ATTACKS: readonly Attack[] = parsed.attacks;
/** Runs of real tools, by name. Several attacks may be tried in one. */
export const ATTACK_RUNS: Readonly<Record<string, AttackRun>> = parsed.runs;

/** The attacks that are walked in this way. */
export function attacksBy<W extends Attack['walk']>(walk: W): readonly Extract<Attack, { walk: W }>[] {
  return ATTACKS.filter((one): one is Extract<Attack, { walk: W }> => one.walk === walk);
}

type Words = Extract<Attack, { walk: 'policy' }>['argv'];

/** The argv with its repetitions written out. */
export function spelledOut(argv: Words): readonly string[] {
  if (Array.isArray(argv))
    return argv.map((part) => (typeof part === 'string' ? part : part.repeat.repeat(part.times)));
  if (typeof argv === 'string') return [argv];
  return Array.from({ length: argv.times }, () => argv.repeat);
}
