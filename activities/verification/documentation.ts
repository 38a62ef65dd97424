/**
 * The evidence of a documentation (spec/tickets.md, `documenting`): its subject, what the control plane sees in its own repository,
 * and a run that says the same. Every digest follows from the candidate and its base alone, so that a retried step adds nothing.
 */
import {
  documentationGrant,
  documentationRun,
  type DocumentationAnswer,
} from '../../policies/verification/documentation-run.ts';
import { documentationSubjectOf } from '../../policies/verification/documentation.ts';
import { digestHex, type Digest } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { Recorded } from '../../schemas/gate/activities.ts';
import type { EvidenceRef } from '../../schemas/gate/references.ts';
import { DOCUMENTATION_PATHS, type DocumentationSubject } from '../../schemas/ticket/activities.ts';
import { describeChange, describeFile } from '../git/files.ts';
import { repositoryPath } from '../git/repository.ts';
import type { VerificationDependencies } from './dependencies.ts';

export type DocumentationDependencies = Pick<
  VerificationDependencies,
  'evidence' | 'evidenceStore' | 'repositoriesDir' | 'workforceRevision'
>;

const PLAN = 'PLAN.md';
const MAX_PLAN_BYTES = 256 * 1024;

/** @throws `not_found` for a plan or a change that is not there, `schema_invalid`, `policy_mismatch`, `state_conflict` */
export async function recordDocumentation(
  needs: DocumentationDependencies,
  of: DocumentationSubject,
): Promise<{ readonly subjectDigest: Digest<'subject'> }> {
  const { tenant, ticket, change, plan } = of;
  const gitDir = repositoryPath(needs.repositoriesDir, tenant, ticket);
  const [requirements, described, planFile] = await Promise.all([
    needs.evidence.gateRequirements({ tenant, gate: 'operation' }),
    describeChange(gitDir, change.base, change.head, DOCUMENTATION_PATHS),
    describeFile(gitDir, { commit: plan.commit, path: PLAN, maxBytes: MAX_PLAN_BYTES }),
  ]);
  if (planFile.state !== 'present') throw portcullisError('not_found', { what: PLAN, id: plan.commit });
  const { diffDigest, within } = described;
  const { workforceRevision } = needs;
  const facts = { requirements, diffDigest, workforceRevision, planSize: planFile.size };
  const manifest = documentationSubjectOf(of, facts);
  const { subjectDigest } = await needs.evidence.registerSubject({ tenant, manifest });
  const seen: Seen = { status: within ? 'passed' : 'failed', refs: [{ id: 'change', digest: diffDigest }] };
  const checks: CheckSeen[] = [];
  for (const { checkId } of manifest.requiredChecks) {
    const recorded = await recordSeen(needs, { tenant, subjectDigest, checkId }, seen);
    // The ticket is at another execution: nothing more is recorded of this one, and its gate passes nothing.
    if (recorded === null) return { subjectDigest };
    checks.push(recorded);
  }
  await recordRow(needs, of, {
    subjectDigest,
    status: seen.status,
    evidenceRefs: checks.map(({ ref }) => ref),
    observedAt: Math.max(...checks.map(({ observedAt }) => observedAt)),
  });
  return { subjectDigest };
}

type Seen = Pick<DocumentationAnswer, 'status'> & { readonly refs: readonly EvidenceRef[] };

interface CheckRef {
  readonly tenant: string;
  readonly subjectDigest: Digest<'subject'>;
  readonly checkId: string;
}

interface CheckSeen {
  readonly ref: EvidenceRef;
  readonly observedAt: number;
}

/** One attempt of the check for each subject, opened and closed; `null` when it came too late. */
async function recordSeen(
  { evidence, evidenceStore }: DocumentationDependencies,
  check: CheckRef,
  { status, refs }: Seen,
): Promise<CheckSeen | null> {
  const { tenant, subjectDigest, checkId } = check;
  const dispatch = `documentation/${digestHex(subjectDigest)}`;
  const opened = await evidence.openAttempt({ ...check, dispatch });
  if (opened.kind === 'stale') return null;
  const outcome = { by: 'control', status, refs } as const;
  const recorded: Recorded = await evidence.recordCheck({ ...check, attempt: opened.attempt, outcome });
  if (recorded.kind === 'stale') return null;
  const { digest } = recorded;
  // A retry is answered with the result that is there: the time is its own, not that of this call.
  const [item] = await evidenceStore.readItems(tenant, [{ family: 'evidence', digest }]);
  if (item?.record?.schema !== 'portcullis/check-result/v1') {
    throw portcullisError('record_unreadable', {
      what: `result of ${checkId}`,
      reason: item?.problem ?? 'it is another record',
    });
  }
  return { ref: { id: checkId, digest }, observedAt: item.record.observedAt };
}

async function recordRow(
  { evidence }: DocumentationDependencies,
  of: DocumentationSubject,
  answer: DocumentationAnswer,
): Promise<void> {
  const { tenant } = of;
  const grant = documentationGrant(of, answer);
  await evidence.recordGrant({ tenant, grant });
  await evidence.recordRun({ tenant, run: documentationRun(of, answer, grant) });
}
