/** One pass over the evidence: each record to its place, and every reason not to trust one. */
import type { CheckAttempt, CheckResult } from '../../schemas/gate/check.ts';
import type { EvidenceItem, EvidenceProblem, EvidenceRecord } from '../../schemas/gate/evidence-set.ts';
import type { DispositionRecord, Finding } from '../../schemas/gate/finding.ts';
import type { HumanDecision } from '../../schemas/gate/human.ts';
import { areRelated } from '../../schemas/gate/references.ts';
import type { VerificationRun } from '../../schemas/gate/run.ts';
import { headOf } from '../../schemas/gate/subject.ts';
import type { Hit } from './hit.ts';
import { CLOCK_SKEW_MS, type GateInput } from './input.ts';
import type { ReasonCode } from './reasons.ts';

export interface SortedEvidence {
  /** By check id. */
  readonly results: ReadonlyMap<string, readonly CheckResult[]>;
  /** Attempts that no result closed, by check id. */
  readonly unclosed: ReadonlyMap<string, readonly CheckAttempt[]>;
  readonly runs: readonly VerificationRun[];
  /** Blocking findings of this subject. */
  readonly blocking: readonly Finding[];
  /** By the id of the finding they answer. */
  readonly dispositions: ReadonlyMap<string, readonly DispositionRecord[]>;
  readonly humans: readonly HumanDecision[];
  /** Digests that a row or a disposition of this subject may cite. */
  readonly citable: ReadonlySet<string>;
  /** Hits of case 1 that the records themselves gave. */
  readonly hits: readonly Hit[];
}

const PROBLEM_CODES: Readonly<Record<EvidenceProblem, ReasonCode>> = {
  missing: 'evidence_missing_record',
  tampered: 'evidence_tampered',
  malformed: 'evidence_malformed',
};

/** Collects while it sorts; handed out read-only. */
class Sorting {
  readonly results = new Map<string, CheckResult[]>();
  readonly attempts: CheckAttempt[] = [];
  readonly runs: VerificationRun[] = [];
  readonly findings: { readonly digest: string; readonly finding: Finding }[] = [];
  readonly dispositions = new Map<string, DispositionRecord[]>();
  readonly humans: HumanDecision[] = [];
  readonly citable = new Set<string>();
  readonly hits: Hit[] = [];

  hit(code: ReasonCode, ref: string): void {
    this.hits.push({ code, ref, at: 0 });
  }
}

export function sortEvidence(input: GateInput): SortedEvidence {
  const sorting = new Sorting();
  const isBound = bindingTest(input);
  const seen = new Set<string>();
  citeSubject(input, sorting.citable);
  for (const item of input.evidence.items) {
    if (item.problem !== null) {
      sorting.hit(PROBLEM_CODES[item.problem], item.digest);
    } else if (!seen.has(item.digest)) {
      seen.add(item.digest);
      if (!isBound(item)) {
        sorting.hit('evidence_foreign', item.digest);
        continue;
      }
      if (observedAtOf(item.record) > input.asOf + CLOCK_SKEW_MS) sorting.hit('evidence_from_future', item.digest);
      place(item.digest, item.record, sorting);
    }
  }
  checkIndependence(input, sorting);
  checkFindings(sorting);
  return {
    results: sorting.results,
    unclosed: unclosedOf(sorting),
    runs: sorting.runs,
    blocking: sorting.findings.flatMap(({ finding }) =>
      finding.standing === 'blocking' && finding.subjectDigest === input.subject.digest ? [finding] : [],
    ),
    dispositions: sorting.dispositions,
    humans: sorting.humans,
    citable: sorting.citable,
    hits: sorting.hits,
  };
}

/** Whether a record belongs to this subject: the right digest alone proves nothing about where it comes from. */
function bindingTest({ subject }: GateInput): (item: EvidenceItem & { problem: null }) => boolean {
  const { record: manifest, digest: subjectDigest } = subject;
  const head = headOf(manifest);
  const definitions = new Map(manifest.requiredChecks.map((check) => [check.checkId, check.definitionDigest]));
  const priors = new Map(manifest.priorBlockers.map((blocker) => [blocker.findingId, blocker.digest]));
  return ({ digest, record }) => {
    if (record.tenant !== manifest.tenant) return false;
    switch (record.schema) {
      case 'portcullis/check-attempt/v1':
      case 'portcullis/check-result/v1':
        return (
          record.head === head &&
          record.executionId === manifest.executionId &&
          record.executionGeneration === manifest.executionGeneration &&
          definitions.get(record.checkId) === record.definitionDigest
        );
      case 'portcullis/verification-run/v1':
        return (
          record.subjectDigest === subjectDigest &&
          record.executionId === manifest.executionId &&
          record.executionGeneration === manifest.executionGeneration
        );
      case 'portcullis/finding/v1':
        return record.subjectDigest === subjectDigest || priors.get(record.findingId) === digest;
      case 'portcullis/disposition/v1':
        return record.onSubjectDigest === subjectDigest && priors.get(record.findingId) === record.findingDigest;
      case 'portcullis/human-decision/v1':
        return record.subjectDigest === subjectDigest;
    }
  };
}

function observedAtOf(record: EvidenceRecord): number {
  return record.schema === 'portcullis/check-attempt/v1' ? record.openedAt : record.observedAt;
}

function place(digest: string, record: EvidenceRecord, sorting: Sorting): void {
  switch (record.schema) {
    case 'portcullis/check-result/v1':
      push(sorting.results, record.checkId, record);
      sorting.citable.add(digest);
      for (const ref of record.refs) sorting.citable.add(ref.digest);
      return;
    case 'portcullis/check-attempt/v1':
      sorting.attempts.push(record);
      return;
    case 'portcullis/verification-run/v1':
      sorting.runs.push(record);
      sorting.citable.add(digest);
      if (record.contextManifestDigest !== null) sorting.citable.add(record.contextManifestDigest);
      return;
    case 'portcullis/finding/v1':
      sorting.findings.push({ digest, finding: record });
      return;
    case 'portcullis/disposition/v1':
      push(sorting.dispositions, record.findingId, record);
      return;
    case 'portcullis/human-decision/v1':
      sorting.humans.push(record);
      return;
  }
}

function push<T>(lists: Map<string, T[]>, name: string, member: T): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [member]);
  else list.push(member);
}

/** What the subject itself pins can be cited too. */
function citeSubject({ subject: { record: manifest } }: GateInput, citable: Set<string>): void {
  citable.add(manifest.producer.resultDigest);
  citable.add(manifest.objective.digest);
  citable.add(manifest.criteria.digest);
  for (const resource of manifest.resources) citable.add(resource.digest);
  for (const artifact of manifest.artifacts) citable.add(artifact.digest);
  if (manifest.change !== null) citable.add(manifest.change.diffDigest);
}

function checkIndependence({ subject }: GateInput, sorting: Sorting): void {
  for (const run of sorting.runs) {
    if (areRelated(run.verifier.principal, subject.record.producer.principal)) {
      sorting.hit('independence_violation', run.runId);
    }
  }
}

/** One id and version with two contents: somebody re-filed a blocker under its own name. */
function checkFindings(sorting: Sorting): void {
  const contents = new Map<string, string>();
  for (const { digest, finding } of sorting.findings) {
    const name = `${finding.findingId} ${finding.version}`;
    const earlier = contents.get(name);
    if (earlier !== undefined && earlier !== digest) sorting.hit('finding_conflict', finding.findingId);
    contents.set(name, digest);
  }
}

function unclosedOf(sorting: Sorting): ReadonlyMap<string, readonly CheckAttempt[]> {
  const unclosed = new Map<string, CheckAttempt[]>();
  const closed = new Set<string>();
  for (const results of sorting.results.values()) {
    for (const result of results) closed.add(`${result.checkId} ${result.attempt}`);
  }
  for (const attempt of sorting.attempts) {
    if (!closed.has(`${attempt.checkId} ${attempt.attempt}`)) push(unclosed, attempt.checkId, attempt);
  }
  return unclosed;
}
