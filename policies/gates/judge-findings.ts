/** Cases 3, 4, 5 and 9 for findings: what blocks this subject, and what became of the blockers that came with it. */
import type { DispositionRecord, Finding } from '../../schemas/gate/finding.ts';
import type { SubjectManifest } from '../../schemas/gate/subject.ts';
import type { Hit } from './hit.ts';
import type { SortedEvidence } from './sort-evidence.ts';

/** @param approvedAt when somebody whose approval counts last approved this subject */
export function judgeFindings(
  subject: SubjectManifest,
  evidence: SortedEvidence,
  approvedAt: number | null,
): readonly Hit[] {
  const answering = new Set(evidence.runs.flatMap((run) => (run.outcome.state === 'finished' ? [run.runId] : [])));
  return [
    ...evidence.blocking.map(blockingHit),
    ...subject.priorBlockers.flatMap(({ findingId }) =>
      judgeBlocker(findingId, evidence.dispositions.get(findingId) ?? [], {
        answering,
        citable: evidence.citable,
        approvedAt,
      }),
    ),
  ];
}

function blockingHit(finding: Finding): Hit {
  const code = finding.type === 'security' ? 'security_finding_open' : 'blocker_open';
  return { code, ref: finding.findingId, at: finding.observedAt };
}

interface Support {
  /** Runs of this subject that finished. */
  readonly answering: ReadonlySet<string>;
  readonly citable: ReadonlySet<string>;
  readonly approvedAt: number | null;
}

function judgeBlocker(findingId: string, said: readonly DispositionRecord[], support: Support): readonly Hit[] {
  const hits: Hit[] = [];
  const answered = said.some((record) => isAnswer(record) && isSupported(record, support));
  const left = said.filter((record) => record.disposition === 'human_required');
  const open = said.filter(
    (record) => record.disposition === 'still_present' || record.disposition === 'not_addressed',
  );
  if (open.length > 0) {
    const at = open.reduce((newest, record) => Math.max(newest, record.observedAt), 0);
    const failure: Hit = { code: 'prior_blocker_open', ref: findingId, at };
    hits.push(failure);
    const denied = open.some((record) => record.disposition === 'still_present');
    if (answered && denied) hits.push({ code: 'disposition_contradicted', ref: findingId, at, about: failure });
  } else if (!answered && left.length === 0) {
    const code = said.some(isAnswer) ? 'resolution_unsupported' : 'prior_blocker_not_addressed';
    hits.push({ code, ref: findingId, at: 0 });
  }
  // An approval from before the verifier left it to a person does not answer it.
  if (left.some((record) => support.approvedAt === null || record.observedAt > support.approvedAt)) {
    hits.push({ code: 'blocker_needs_human', ref: findingId, at: 0 });
  }
  return hits;
}

const isAnswer = ({ disposition }: DispositionRecord): boolean =>
  disposition === 'resolved' || disposition === 'superseded_by_subject_change';

/** Resolved needs evidence of the new subject; superseded needs the version that took the matter away. */
function isSupported(record: DispositionRecord, support: Support): boolean {
  if (!support.answering.has(record.runId)) return false;
  if (record.disposition === 'superseded_by_subject_change') return record.supersededBy !== null;
  return record.evidenceRefs.length > 0 && record.evidenceRefs.every((ref) => support.citable.has(ref.digest));
}
