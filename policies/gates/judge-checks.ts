/** Cases 2, 3, 6, 7 and 8 for checks: what each required check came to on this head. */
import type { CheckResult } from '../../schemas/gate/check.ts';
import type { CheckRule } from '../../schemas/gate/policy.ts';
import type { SubjectCheck, SubjectManifest } from '../../schemas/gate/subject.ts';
import { ATTESTATIONS } from '../../schemas/gate/vocabulary.ts';
import type { Hit } from './hit.ts';
import type { SortedEvidence } from './sort-evidence.ts';

/** What one attempt counts as under a rule. */
type Standing = 'failed' | 'satisfied' | 'unattested' | 'not_tested' | 'inconclusive' | 'unavailable';

export interface JudgedChecks {
  readonly hits: readonly Hit[];
  /** When the first time-sensitive pass ends, milliseconds; `null` when none does. */
  readonly validUntil: number | null;
}

export function judgeChecks(
  rules: readonly CheckRule[],
  subject: SubjectManifest,
  evidence: SortedEvidence,
  asOf: number,
): JudgedChecks {
  const named = new Map(subject.requiredChecks.map((check) => [check.checkId, check]));
  const passedWhole = evidence.runs.some(passedEverything);
  const hits: Hit[] = [];
  let validUntil: number | null = null;
  for (const rule of rules) {
    const check = named.get(rule.checkId);
    if (check === undefined) {
      hits.push({ code: 'check_not_in_subject', ref: rule.checkId, at: 0 });
      continue;
    }
    if (!rule.definitionDigestIn.includes(check.definitionDigest)) {
      hits.push({ code: 'check_definition_not_accepted', ref: rule.checkId, at: 0 });
    }
    const judged = judgeCheck(rule, check, evidence, asOf);
    hits.push(...judged.hits);
    validUntil = earliest(validUntil, judged.validUntil);
    const failure = judged.hits.find(isFailure);
    if (passedWhole && failure !== undefined) {
      hits.push({ code: 'check_and_verifier_disagree', ref: rule.checkId, at: failure.at, about: failure });
    }
  }
  return { hits, validUntil };
}

const isFailure = (hit: Hit): boolean => hit.code === 'check_failed' || hit.code === 'security_check_failed';

function passedEverything(run: SortedEvidence['runs'][number]): boolean {
  return (
    run.outcome.state === 'finished' &&
    run.outcome.rows.length > 0 &&
    run.outcome.rows.every((row) => row.status === 'passed')
  );
}

function judgeCheck(rule: CheckRule, check: SubjectCheck, evidence: SortedEvidence, asOf: number): JudgedChecks {
  const tally = tallyOf(rule, evidence);
  const hits: Hit[] = [];
  let validUntil: number | null = null;
  if (tally.changed) hits.push({ code: 'definition_changed', ref: rule.checkId, at: 0 });
  if (tally.failedAt !== null) {
    const code = rule.class === 'security' ? 'security_check_failed' : 'check_failed';
    const failure: Hit = { code, ref: rule.checkId, at: tally.failedAt };
    hits.push(failure);
    if (tally.passed) hits.push({ code: 'check_unstable', ref: rule.checkId, at: tally.failedAt, about: failure });
  }
  if (tally.satisfiedAt !== null) {
    if (check.horizonSeconds !== null) {
      validUntil = tally.satisfiedAt + check.horizonSeconds * 1000;
      if (validUntil <= asOf) hits.push({ code: 'evidence_stale', ref: rule.checkId, at: 0 });
    }
    if (tally.unanswered.length > rule.maxUnanswered) {
      hits.push({ code: 'check_unavailable', ref: rule.checkId, at: newest(tally.unanswered) });
    }
  } else if (tally.failedAt === null) {
    hits.push(...unanswered(rule, tally));
  }
  return { hits, validUntil };
}

interface Tally {
  failedAt: number | null;
  /** Newest attempt that satisfies the rule. */
  satisfiedAt: number | null;
  /** Some attempt passed, whoever watched. */
  passed: boolean;
  unattested: boolean;
  changed: boolean;
  readonly unanswered: { readonly standing: Standing; readonly at: number }[];
}

function tallyOf(rule: CheckRule, evidence: SortedEvidence): Tally {
  const tally: Tally = {
    failedAt: null,
    satisfiedAt: null,
    passed: false,
    unattested: false,
    changed: false,
    unanswered: [],
  };
  for (const result of evidence.results.get(rule.checkId) ?? []) {
    if (rule.definitionsUnchanged && result.definitions.some((file) => file.baseDigest !== file.headDigest)) {
      tally.changed = true;
    }
    if (result.status === 'passed') tally.passed = true;
    count(standingUnder(rule, result), result.observedAt, tally);
  }
  for (const attempt of evidence.unclosed.get(rule.checkId) ?? []) count('unavailable', attempt.openedAt, tally);
  return tally;
}

function count(standing: Standing, at: number, tally: Tally): void {
  switch (standing) {
    case 'failed':
      tally.failedAt = Math.max(tally.failedAt ?? 0, at);
      return;
    case 'satisfied':
      tally.satisfiedAt = Math.max(tally.satisfiedAt ?? 0, at);
      return;
    case 'unattested':
      tally.unattested = true;
      return;
    case 'not_tested':
    case 'inconclusive':
    case 'unavailable':
      tally.unanswered.push({ standing, at });
      return;
  }
}

function standingUnder(rule: CheckRule, result: CheckResult): Standing {
  switch (result.status) {
    case 'failed':
      return 'failed';
    case 'not_tested':
      return 'not_tested';
    case 'inconclusive':
      return result.unavailable === null ? 'inconclusive' : 'unavailable';
    case 'passed':
      if (!hasEnoughTests(rule, result)) return 'not_tested';
      if (ATTESTATIONS.indexOf(result.attestation) < ATTESTATIONS.indexOf(rule.attestation)) return 'unattested';
      return 'satisfied';
  }
}

/** Exit code 0 is no evidence that tests ran. A failed test inside a passed run is counted by nobody twice: it is not tested. */
function hasEnoughTests(rule: CheckRule, { counts }: CheckResult): boolean {
  if (counts === null) return rule.minExecuted === 0;
  return counts.executed >= rule.minExecuted && counts.skipped <= rule.maxSkipped && counts.failed === 0;
}

/** Nothing satisfied it and nothing failed it: say which kind of nothing. */
function unanswered(rule: CheckRule, tally: Tally): readonly Hit[] {
  const ref = rule.checkId;
  if (tally.unanswered.length === 0) {
    return [{ code: tally.unattested ? 'check_attestation' : 'check_missing', ref, at: 0 }];
  }
  const ofKind = (standing: Standing, code: Hit['code']): readonly Hit[] => {
    const entries = tally.unanswered.filter((entry) => entry.standing === standing);
    return entries.length === 0 ? [] : [{ code, ref, at: newest(entries) }];
  };
  return [
    ...ofKind('inconclusive', 'check_inconclusive'),
    ...ofKind('not_tested', 'check_not_tested'),
    ...ofKind('unavailable', 'check_unavailable'),
  ];
}

function newest(entries: readonly { readonly at: number }[]): number {
  return entries.reduce((latest, entry) => Math.max(latest, entry.at), 0);
}

export function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}
