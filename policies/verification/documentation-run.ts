/**
 * What shows that a change is of documents only: a run without a model, under a grant that reads exactly that commit. It says what
 * the check says, and rests on nothing else.
 */
import { digestHex, type Digest } from '../../schemas/digest.ts';
import type { EvidenceRef, Principal } from '../../schemas/gate/references.ts';
import { verificationRequestDigest, type Grant, type VerificationRequest } from '../../schemas/gate/request.ts';
import type { VerificationRun } from '../../schemas/gate/run.ts';
import type { CriterionStatus } from '../../schemas/gate/vocabulary.ts';
import { DOCUMENTATION_PATHS, type DocumentationSubject } from '../../schemas/ticket/activities.ts';
import { DOCUMENTATION_CRITERION } from './documentation.ts';
import { digestOfValue } from './subject.ts';

/** The class of verifier that calls no model; the policy of the gate `operation` names it. */
export const DETERMINISTIC_CLASS = 'deterministic';

/** The control plane, reading its own repository: it descends from nobody, least of all from a producer. */
export const DOCUMENTATION_VERIFIER: Principal = { id: 'control:documentation', lineage: [] };

const RULES = { id: DOCUMENTATION_CRITERION, revision: 1, paths: DOCUMENTATION_PATHS } as const;
const GRANT_MS = 3_600_000;

/** What the check of a subject came to. */
export interface DocumentationAnswer {
  readonly subjectDigest: Digest<'subject'>;
  /** `passed` when the change stays within the paths and is not empty, otherwise `failed`. */
  readonly status: Extract<CriterionStatus, 'passed' | 'failed'>;
  /** The recorded results of the subject's checks. */
  readonly evidenceRefs: readonly EvidenceRef[];
  /** Milliseconds since the epoch: when the last of them was observed, so that a retry makes the same records. */
  readonly observedAt: number;
}

/** One for each subject, so that a retry finds its own. */
export function documentationRunId(subjectDigest: Digest<'subject'>): string {
  return `documentation-${digestHex(subjectDigest)}`;
}

export function documentationGrant(of: DocumentationSubject, answer: DocumentationAnswer): Grant {
  const id = documentationRunId(answer.subjectDigest);
  return {
    schema: 'portcullis/grant/v1',
    tenant: of.tenant,
    id,
    revision: 1,
    principal: DOCUMENTATION_VERIFIER,
    resources: [{ id: `repository:${of.ticket}`, version: of.change.head, mode: 'read' }],
    appendTo: id,
    expiresAt: answer.observedAt + GRANT_MS,
    generation: of.execution.generation,
    revokedAt: null,
  };
}

/** @param grant as {@link documentationGrant} made it */
export function documentationRun(of: DocumentationSubject, answer: DocumentationAnswer, grant: Grant): VerificationRun {
  const { subjectDigest, status, evidenceRefs, observedAt } = answer;
  const verifier = { principal: DOCUMENTATION_VERIFIER, class: DETERMINISTIC_CLASS };
  const request: VerificationRequest = {
    schema: 'portcullis/verification-request/v1',
    tenant: of.tenant,
    subjectDigest,
    verifier,
    methods: ['deterministic'],
    rules: { id: RULES.id, revision: RULES.revision, digest: digestOfValue(RULES) },
    budget: { tokens: 0, costMicros: 0, wallSeconds: GRANT_MS / 1000 },
    modelTier: 'none',
    grantId: grant.id,
    priorBlockers: [],
  };
  return {
    schema: 'portcullis/verification-run/v1',
    tenant: of.tenant,
    runId: documentationRunId(subjectDigest),
    subjectDigest,
    executionId: of.execution.id,
    executionGeneration: of.execution.generation,
    requestDigest: verificationRequestDigest(request),
    verifier,
    runtime: null,
    grant: { id: grant.id, revision: grant.revision },
    contextManifestDigest: null,
    outcome: {
      state: 'finished',
      rows: [
        {
          criterionId: DOCUMENTATION_CRITERION,
          status,
          method: 'deterministic',
          evidenceRefs,
          reasonCode: status === 'passed' ? 'within_documentation_paths' : 'beyond_documentation_paths',
        },
      ],
    },
    observedAt,
  };
}
