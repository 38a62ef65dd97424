/** The subject of a ticket's gate: every material input of what is judged, from the ticket's parameters and our own records. */
import { canonicalBytes } from '../../schemas/canonical.ts';
import { contentDigest, parseContentDigest, type ContentDigest } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { isCheckOf } from '../tickets/checks.ts';
import type { CheckDefinition } from '../../schemas/gate/check.ts';
import type { GateRequirements } from '../../schemas/gate/activities.ts';
import type { Principal } from '../../schemas/gate/references.ts';
import type { SubjectCheck, SubjectManifest } from '../../schemas/gate/subject.ts';
import type { TicketDefinition } from '../../schemas/ticket/definition.ts';
import type { SubjectParameters } from '../../schemas/verification/workflow.ts';

/** Raised when the workflows judge another way: a subject judged by the old way is another subject. */
export const WORKFLOW_REVISION = 'portcullis-ticket/1';

/** What recording a subject looks up: the policy's demands, the change, the digest of the role registry. */
export interface SubjectFacts {
  readonly requirements: GateRequirements;
  readonly diffDigest: ContentDigest;
  readonly workforceRevision: ContentDigest;
  /** PLAN.md at the plan's commit, in bytes. */
  readonly planSize: number;
}

/** The same for what a reviewer judges: with the findings that stopped an earlier round, by exact bytes. */
export interface ReviewedSubjectFacts extends SubjectFacts {
  readonly priorBlockers: SubjectManifest['priorBlockers'];
}

/**
 * @throws `schema_invalid` when the ticket runs none of the commands that a required check accepts
 */
export function subjectOf(parameters: SubjectParameters, facts: ReviewedSubjectFacts): SubjectManifest {
  const { definition, execution, change, plan } = parameters;
  if (parameters.gate === 'merge') requireEveryCheck(definition, facts.requirements);
  const items = definition.criteria.map(({ id, required, methods }) => ({
    criterionId: id,
    revision: 1,
    required,
    methods,
  }));
  return {
    schema: 'portcullis/subject/v1',
    tenant: parameters.tenant,
    missionId: parameters.ticket,
    executionId: execution.id,
    executionGeneration: execution.generation,
    stateRevision: parameters.stateRevision,
    workPackage:
      parameters.segment === null ? null : { id: `segment-${parameters.segment.n}`, revision: plan.revision },
    operation: null,
    producer: {
      principal: producerOf(parameters.ticket),
      runId: parameters.producer.run,
      resultId: change.head,
      resultDigest: digestOfValue({ head: change.head, diff: facts.diffDigest }),
    },
    objective: { revision: 1, digest: objectiveOf(definition) },
    criteria: { revision: 1, digest: digestOfValue(definition.criteria), items },
    resources: [],
    artifacts: [planArtifact(plan, facts.planSize)],
    change: { baseDigest: change.base, headDigest: change.head, diffDigest: facts.diffDigest },
    requiredChecks: facts.requirements.checks.map((check) => chosen(check, definition)),
    gatePolicy: facts.requirements.policy,
    gateDefinition: facts.requirements.definition,
    workflowRevision: WORKFLOW_REVISION,
    workforceRevision: facts.workforceRevision,
    risk: { class: definition.risk, securityRequirementRevision: 1 },
    priorBlockers: facts.priorBlockers,
    requestSchemaVersion: 1,
  };
}

/** FORGE of a ticket is one hand, whatever workspace it works in. */
export function producerOf(ticket: string): Principal {
  return { id: `forge:${ticket}`, lineage: [] };
}

/** What a ticket lists is run, or it is said that it is not: a check that nobody runs must not read as one that passed. */
function requireEveryCheck({ checks, ...ticket }: TicketDefinition, { checks: required }: GateRequirements): void {
  const run = required.flatMap((check) => fitting(check, { ...ticket, checks })?.definition ?? []);
  const dropped = checks.find((listed) => !run.some((definition) => isCheckOf(listed, definition)));
  if (dropped === undefined) return;
  const command = dropped.argv.join(' ');
  throw portcullisError('schema_invalid', {
    path: 'checks',
    reason: `${command}: no required check of the gate runs it`,
  });
}

function fitting({ accepts }: GateRequirements['checks'][number], ticket: TicketDefinition) {
  return accepts.find(({ definition }) => isRunBy(ticket, definition));
}

function chosen(check: GateRequirements['checks'][number], ticket: TicketDefinition): SubjectCheck {
  const { checkId } = check;
  const fits = fitting(check, ticket);
  if (fits === undefined) {
    throw portcullisError('schema_invalid', {
      path: 'checks',
      reason: `none is a command that the check ${checkId} accepts`,
    });
  }
  return { checkId, definitionDigest: fits.digest, timeSensitive: false, horizonSeconds: null };
}

/** What the control plane looks at itself needs no command of the ticket. */
function isRunBy(ticket: TicketDefinition, definition: CheckDefinition): boolean {
  if (definition.kind === 'builtin') return true;
  return ticket.checks.some((listed) => isCheckOf(listed, definition));
}

/** The accepted plan, by the bytes that were accepted; `size` in bytes. */
export function planArtifact(
  { revision, digest }: SubjectParameters['plan'],
  size: number,
): SubjectManifest['artifacts'][number] {
  return { artifactId: 'PLAN.md', revision, mediaType: 'text/markdown', digest: parseContentDigest(digest), size };
}

/** What the ticket wants, in its own words, and by which checks within which time it wants it shown. */
export function objectiveOf({ title, body, issueUrl, checks }: TicketDefinition): ContentDigest {
  return digestOfValue({ title, body, issueUrl, checks });
}

/** Of a value that is no record of its own. */
export function digestOfValue(value: unknown): ContentDigest {
  return contentDigest(canonicalBytes(value));
}
