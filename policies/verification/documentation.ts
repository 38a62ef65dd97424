/**
 * The subject of a documentation: a change of documents on top of what has landed, judged by one criterion that needs no judgement.
 * Its gate is `operation`, whose pass lands documents and nothing else (`activities/git/permission.ts`).
 */
import { portcullisError } from '../../schemas/errors.ts';
import type { GateRequirements } from '../../schemas/gate/activities.ts';
import type { Principal } from '../../schemas/gate/references.ts';
import type { SubjectCheck, SubjectManifest } from '../../schemas/gate/subject.ts';
import { DOCUMENTATION_PATHS, type DocumentationSubject } from '../../schemas/ticket/activities.ts';
import { digestOfValue, objectiveOf, planArtifact, WORKFLOW_REVISION, type SubjectFacts } from './subject.ts';

/** What tells a documentation from every other operation that the gate may judge. */
export const DOCUMENTATION_OPERATION = { id: 'documentation', version: '1' } as const;

/** The `builtin` by which the control plane answers for an operation. */
export const OPERATION_RESULT = 'operation-result';

/** Shown by the listing of the change alone, whoever wrote it. */
export const DOCUMENTATION_CRITERION = 'documents-only';

const CRITERION = {
  id: DOCUMENTATION_CRITERION,
  revision: 1,
  text: 'the change is not empty, and every path of it is one that a documentation may change',
  paths: DOCUMENTATION_PATHS,
} as const;

/** @throws `schema_invalid` when the policy requires a check that a documentation cannot answer, or none at all */
export function documentationSubjectOf(of: DocumentationSubject, facts: SubjectFacts): SubjectManifest {
  const { ticket, execution, change, plan } = of;
  const { requirements, diffDigest } = facts;
  return {
    schema: 'portcullis/subject/v1',
    tenant: of.tenant,
    missionId: ticket,
    executionId: execution.id,
    executionGeneration: execution.generation,
    stateRevision: of.stateRevision,
    workPackage: null,
    operation: DOCUMENTATION_OPERATION,
    producer: {
      principal: documenterOf(ticket),
      runId: of.producer.run,
      resultId: change.head,
      resultDigest: digestOfValue({ head: change.head, diff: diffDigest }),
    },
    objective: { revision: 1, digest: objectiveOf(of.definition) },
    criteria: {
      revision: CRITERION.revision,
      digest: digestOfValue([CRITERION]),
      items: [
        {
          criterionId: CRITERION.id,
          revision: CRITERION.revision,
          required: true,
          methods: ['deterministic'],
        },
      ],
    },
    resources: [],
    artifacts: [planArtifact(plan, facts.planSize)],
    change: { baseDigest: change.base, headDigest: change.head, diffDigest },
    requiredChecks: answeredHere(requirements.checks),
    gatePolicy: requirements.policy,
    gateDefinition: requirements.definition,
    workflowRevision: WORKFLOW_REVISION,
    workforceRevision: facts.workforceRevision,
    // Of the documents, not of the ticket: nothing that runs is among them, and the change itself was judged by its own risk.
    risk: { class: 'low', securityRequirementRevision: 1 },
    priorBlockers: [],
    requestSchemaVersion: 1,
  };
}

/** LORE of a ticket is one hand, and another than FORGE's and SENTINEL's. */
export function documenterOf(ticket: string): Principal {
  return { id: `lore:${ticket}`, lineage: [] };
}

/** Everything that is required, and at least something: what nobody here can answer would block each documentation for good. */
function answeredHere(checks: GateRequirements['checks']): readonly SubjectCheck[] {
  if (checks.length === 0) throw unanswerable(`requires no check, and a documentation rests on ${OPERATION_RESULT}`);
  return checks.map(({ checkId, accepts }) => {
    const fits = accepts.find(
      ({ definition }) => definition.kind === 'builtin' && definition.name === OPERATION_RESULT,
    );
    if (fits === undefined) throw unanswerable(`requires ${checkId}, which a documentation does not answer`);
    return { checkId, definitionDigest: fits.digest, timeSensitive: false, horizonSeconds: null };
  });
}

function unanswerable(reason: string) {
  return portcullisError('schema_invalid', { path: 'the policy of the gate operation', reason });
}
