/**
 * The hostile cases of the gate (spec/gate.md section 9), by number: which a pure test covers, and which need a store, a worker
 * or a signature and so belong to the tests across processes. `docs/how-a-decision-is-made.md` prints the second list.
 */
export interface HostileCase {
  /** `seed-1` … `seed-13`, `fact-1` … `fact-40`, `spec-…`. */
  readonly id: string;
  readonly what: string;
  /** What of it cannot be shown without processes; `null` when nothing. */
  readonly needsServer: string | null;
  /** Whether a `policies/gates/hostile-*.test.ts` has a test of it. */
  readonly pure: boolean;
}

const pure = (id: string, what: string): HostileCase => ({ id, what, needsServer: null, pure: true });
const server = (id: string, what: string, needsServer: string): HostileCase => ({ id, what, needsServer, pure: false });
const both = (id: string, what: string, needsServer: string): HostileCase => ({ id, what, needsServer, pure: true });

export const HOSTILE_CASES: readonly HostileCase[] = [
  pure('seed-1', 'a pass on commit A does not apply to B'),
  pure('seed-2', 'a pass of execution N is not inherited by N+1'),
  server('seed-3', 'a producer writes a verifier or gate row', 'store users and the gateway’s authority'),
  server('seed-4', 'a verifier changes its subject', 'read-only workspace, gateway and git authority'),
  pure('seed-5', 'a criterion without a row'),
  pure('seed-6', 'the verifier times out or its provider fails'),
  pure('seed-7', 'a deterministic failure and a model that says pass'),
  both('seed-8', 'two evaluations of the same inputs', 'one write-once record from concurrent workers'),
  pure('seed-9', 'the policy changes after a pass'),
  pure('seed-10', 'a prior blocker that the new review does not mention'),
  pure('seed-11', 'security and reviewer contradict each other'),
  both('seed-12', 'a verifier finishes after its subject moved', 'the refused write, `stale_write.rejected`'),
  pure('seed-13', 'text of a model names criteria, policy or grant'),
  pure('fact-1', 'a key twice in a verifier’s JSON'),
  pure('fact-2', 'lone surrogates, invalid and overlong UTF-8'),
  pure('fact-3', 'numbers that two readers understand differently'),
  pure('fact-4', 'the same bytes under two kinds'),
  pure('fact-5', 'delimiters smuggled across fields'),
  pure('fact-6', 'objects that answer differently when read again'),
  pure('fact-7', 'sets in another order, and with a member twice'),
  pure('fact-8', 'a row for an unknown criterion, two rows for one'),
  pure('fact-9', 'nothing to judge by: no criteria, no checks, no rules'),
  pure('fact-10', 'a criterion made optional after admission'),
  pure('fact-11', 'A, then B, then A again'),
  pure('fact-12', 'a check that was skipped'),
  pure('fact-13', 'a fail and a pass of one check on one head'),
  both('fact-14', 'one record written twice by a retry', 'a worker killed between write and acknowledgement'),
  both('fact-15', 'two versions of the evaluator', 'replay of histories of the older one'),
  both('fact-16', 'the policy head moves between evaluation and write', 'the refusal in the writing script'),
  server('fact-17', 'the head moves between pass and merge', 'the merge’s compare-and-set'),
  server('fact-18', 'a file changed during its check and changed back', 'the executor’s snapshot before and after'),
  both('fact-19', 'evidence swapped in place', 'bytes of artifacts in the store'),
  pure('fact-20', 'evidence of another execution or tenant'),
  pure('fact-21', 'a verifier that is the producer under another id'),
  pure('fact-22', 'one person in two seats, or judging their own work'),
  server('fact-23', 'one key signs twice', 'signatures of the gate worker'),
  pure('fact-24', 'instructions, delimiters and look-alike ids in a verifier’s output'),
  pure('fact-25', 'the context was cut at required evidence'),
  both('fact-26', 'a grant revoked before or after the call', 'that no call is made, and that its receipt settles'),
  both('fact-27', 'the budget runs out', 'reservations against each other'),
  both('fact-28', 'an error text that reads like a refusal', 'typed errors of the provider’s client'),
  pure('fact-29', 'the edges of a horizon'),
  pure('fact-30', 'old evidence that does not age'),
  pure('fact-31', 'a blocker filed again, softer'),
  pure('fact-32', 'a blocker resolved by the old subject’s evidence'),
  both('fact-33', 'ten thousand findings, megabytes, deep nesting', 'the gateway’s bounds on what is appended'),
  pure('fact-34', 'thirty findings outside the change'),
  both('fact-35', 'a risk class lowered by the producer', 'the class is read from the pinned resource rule'),
  pure('fact-36', 'the change edits the policy that judges it'),
  server('fact-37', 'the producer’s store credential', 'store users and scripts'),
  both('fact-38', 'cancel, late verifier and next execution in any order', 'workflows and refused writes'),
  server('fact-39', 'one attempt counted twice', 'the ledger'),
  pure('fact-40', 'random vectors'),
  pure('spec-reruns', 'twenty re-runs until green'),
  server('spec-cherry-picked', 'a caller hands in the evidence it likes', 'the gate worker assembles the set itself'),
  pure('spec-deleted-record', 'an index entry whose record was deleted'),
  server(
    'spec-rewritten',
    'a decision rewritten with a matching chain and another key',
    'signatures and the audit chain',
  ),
  pure('spec-other-as-of', 'the same evaluation key with another asOf'),
  pure('spec-pairs', 'every pair of cases hit at once'),
  server('spec-fifty', 'fifty concurrent evaluations', 'one write-once record'),
];
