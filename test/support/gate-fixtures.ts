/**
 * Subjects and evidence that fit each other: a world in which everything passes, and records bound to it, so that a test or an
 * example says only what is different.
 */
import { readFileSync } from 'node:fs';
import { contentDigest, digestOf, type ContentDigest } from '../../schemas/digest.ts';
import type { CheckAttempt, CheckResult } from '../../schemas/gate/check.ts';
import {
  evidenceItem,
  evidenceSetOf,
  type EvidenceItem,
  type EvidenceRecord,
} from '../../schemas/gate/evidence-set.ts';
import { findingDigest, type DispositionRecord, type Finding } from '../../schemas/gate/finding.ts';
import type { HumanDecision } from '../../schemas/gate/human.ts';
import { readGatePolicy } from '../../schemas/gate/policy.schema.ts';
import {
  gateDefinitionDigest,
  gatePolicyDigest,
  type GateDefinition,
  type GatePolicy,
} from '../../schemas/gate/policy.ts';
import type { EvidenceRef, Principal } from '../../schemas/gate/references.ts';
import type { CriterionRow, VerificationRun } from '../../schemas/gate/run.ts';
import { headOf, subjectDigest, type SubjectManifest } from '../../schemas/gate/subject.ts';
import type { CriterionStatus, GateKind } from '../../schemas/gate/vocabulary.ts';
import { EVALUATOR_VERSION, type GateInput } from '../../policies/gates/input.ts';

/** 2026-11-30T12:00:00Z. Everything was observed in the hour before. */
export const AS_OF = Date.UTC(2026, 10, 30, 12);
export const MINUTE = 60_000;

export const bytesOf = (text: string): ContentDigest => contentDigest(new TextEncoder().encode(text));
export const ref = (id: string): EvidenceRef => ({ id, digest: bytesOf(id) });
export const principal = (id: string, ...lineage: readonly string[]): Principal => ({ id, lineage });

const PRODUCER = principal('forge-1', 'forge');

/** The shipped policy of a gate. */
export function shippedPolicy(gate: GateKind): GatePolicy {
  const file = new URL(`../../policies/gates/documents/${gate}.json`, import.meta.url);
  return readGatePolicy(JSON.parse(readFileSync(file, 'utf8')));
}

export interface World {
  readonly gate: GateKind;
  readonly policy: GatePolicy;
  readonly definition: GateDefinition;
  readonly subject: SubjectManifest;
}

export interface WorldChanges {
  readonly policy?: Partial<GatePolicy>;
  readonly definition?: Partial<GateDefinition>;
  readonly subject?: Partial<SubjectManifest>;
}

/** A gate with its shipped policy, and a subject that names exactly what that policy asks for. */
export function worldOf(gate: GateKind, changes: WorldChanges = {}): World {
  const policy: GatePolicy = { ...shippedPolicy(gate), ...changes.policy };
  const definition: GateDefinition = {
    schema: 'portcullis/gate-definition/v1',
    id: gate,
    revision: 1,
    gate,
    policy: { id: policy.id, revision: policy.revision, digest: gatePolicyDigest(policy) },
    evaluatorVersion: EVALUATOR_VERSION,
    ...changes.definition,
  };
  return { gate, policy, definition, subject: { ...subjectOf(policy, definition), ...changes.subject } };
}

const OPERATION_CRITERIA = ['result-matches-schema', 'rows-conserved'];
const CHANGE_CRITERIA = ['login-works', 'tests-cover-login'];

function subjectOf(policy: GatePolicy, definition: GateDefinition): SubjectManifest {
  const isOperation = definition.gate === 'operation';
  return {
    schema: 'portcullis/subject/v1',
    tenant: 'local',
    missionId: isOperation ? 'OPS-7' : 'T-048',
    executionId: 'exec-1',
    executionGeneration: 1,
    stateRevision: 12,
    workPackage: isOperation ? null : { id: 'wp-1', revision: 1 },
    operation: isOperation ? { id: 'export-ledger', version: '2.1.0' } : null,
    producer: { principal: PRODUCER, runId: 'run-forge-9', resultId: 'result-9', resultDigest: bytesOf('the result') },
    objective: { revision: 1, digest: bytesOf('the objective') },
    criteria: {
      revision: 1,
      digest: bytesOf('the criteria'),
      items: (isOperation ? OPERATION_CRITERIA : CHANGE_CRITERIA).map((criterionId) => ({
        criterionId,
        revision: 1,
        required: true,
        methods: isOperation ? (['deterministic'] as const) : (['deterministic', 'model'] as const),
      })),
    },
    resources: [
      {
        resourceId: isOperation ? 'ledger' : 'repo',
        kind: isOperation ? 'dataset' : 'repository',
        bindingRevision: 1,
        classification: 'internal',
        version: isOperation ? '2026-11-30' : 'main',
        digest: bytesOf('the resource'),
      },
    ],
    artifacts: [
      { artifactId: 'report', revision: 1, mediaType: 'application/json', digest: bytesOf('the report'), size: 10 },
    ],
    change: isOperation
      ? null
      : { baseDigest: 'a'.repeat(40), headDigest: 'b'.repeat(40), diffDigest: bytesOf('the diff') },
    requiredChecks: policy.requiredChecks.flatMap((rule) => {
      const [definitionDigest] = rule.definitionDigestIn;
      if (definitionDigest === undefined) return [];
      return [{ checkId: rule.checkId, definitionDigest, timeSensitive: false, horizonSeconds: null }];
    }),
    gatePolicy: { id: policy.id, revision: policy.revision, digest: gatePolicyDigest(policy) },
    gateDefinition: {
      id: definition.id,
      revision: definition.revision,
      digest: gateDefinitionDigest(definition),
    },
    workflowRevision: 'ticket@1',
    workforceRevision: bytesOf('the role registry'),
    risk: { class: 'low', securityRequirementRevision: 1 },
    priorBlockers: [],
    requestSchemaVersion: 1,
  };
}

/** Makes records that are bound to a world. */
export class Maker {
  readonly world: World;
  private made = 0;

  constructor(world: World) {
    this.world = world;
  }

  private next(kind: string): string {
    this.made += 1;
    return `${kind}-${this.made}`;
  }

  check(checkId: string, status: CriterionStatus = 'passed', over: Partial<CheckResult> = {}): CheckResult {
    const { subject, policy } = this.world;
    const rule = policy.requiredChecks.find((of) => of.checkId === checkId);
    const isControl = rule?.attestation === 'control';
    const attempt = (this.made += 1);
    return {
      schema: 'portcullis/check-result/v1',
      ...this.binding(checkId),
      attempt,
      status,
      unavailable: null,
      counts: isControl
        ? null
        : {
            executed: 12,
            passed: status === 'failed' ? 11 : 12,
            failed: status === 'failed' ? 1 : 0,
            skipped: 0,
            provenance: 'reporter_file',
          },
      refs: [ref(`${checkId}-stdout`)],
      attestation: isControl ? 'control' : 'verifier',
      observedAt: AS_OF - 30 * MINUTE,
      executor: isControl ? null : { role: 'verifier', workspace: 'ws-verifier-1', generation: 1 },
      toolchain: isControl ? null : bytesOf('the toolchain'),
      definitions:
        subject.change === null || isControl
          ? []
          : [{ path: 'package.json', baseDigest: bytesOf('package.json'), headDigest: bytesOf('package.json') }],
      ...over,
    };
  }

  attempt(checkId: string, over: Partial<CheckAttempt> = {}): CheckAttempt {
    return {
      schema: 'portcullis/check-attempt/v1',
      ...this.binding(checkId),
      attempt: (this.made += 1),
      openedAt: AS_OF - 31 * MINUTE,
      ...over,
    };
  }

  private binding(checkId: string) {
    const { subject } = this.world;
    const named = subject.requiredChecks.find((check) => check.checkId === checkId);
    return {
      tenant: subject.tenant,
      checkId,
      definitionDigest: named?.definitionDigest ?? digestOf('definition', checkId),
      head: headOf(subject),
      executionId: subject.executionId,
      executionGeneration: subject.executionGeneration,
    };
  }

  /** A run of this class that says the same of every criterion unless `rows` says otherwise. */
  run(
    verifierClass: string,
    rows: Readonly<Record<string, CriterionStatus>> = {},
    over: Partial<VerificationRun> = {},
  ): VerificationRun {
    const { subject } = this.world;
    const runId = this.next('run');
    const isModel = verifierClass !== 'deterministic';
    return {
      schema: 'portcullis/verification-run/v1',
      tenant: subject.tenant,
      runId,
      subjectDigest: subjectDigest(subject),
      executionId: subject.executionId,
      executionGeneration: subject.executionGeneration,
      requestDigest: digestOf('request', runId),
      verifier: { principal: principal(`${verifierClass}-${runId}`), class: verifierClass },
      runtime: isModel
        ? { provider: 'example', model: 'large-1', configRevision: '1', receiptId: `receipt-${runId}` }
        : null,
      grant: { id: `grant-${runId}`, revision: 1 },
      contextManifestDigest: isModel ? digestOf('context-manifest', runId) : null,
      outcome: {
        state: 'finished',
        rows: subject.criteria.items.map((item) =>
          this.row(item.criterionId, rows[item.criterionId] ?? 'passed', isModel ? 'model' : 'deterministic'),
        ),
      },
      observedAt: AS_OF - 20 * MINUTE,
      ...over,
    };
  }

  row(criterionId: string, status: CriterionStatus, method: CriterionRow['method'] = 'model'): CriterionRow {
    const evidenceRefs = status === 'passed' ? [{ id: 'report', digest: bytesOf('the report') }] : [];
    return { criterionId, status, method, evidenceRefs, reasonCode: `criterion_${status}` };
  }

  finding(over: Partial<Finding> = {}): Finding {
    const { subject } = this.world;
    const range = { resourceId: 'repo', path: 'src/login.ts', fromLine: 10, toLine: 14, digest: bytesOf('login.ts') };
    return {
      schema: 'portcullis/finding/v1',
      tenant: subject.tenant,
      findingId: this.next('finding'),
      version: 1,
      subjectDigest: subjectDigest(subject),
      runId: 'run-1',
      criterionId: subject.criteria.items[0]?.criterionId ?? null,
      securityRequirementRevision: null,
      type: 'correctness',
      severity: 'blocker',
      standing: 'blocking',
      causality: 'introduced',
      location: range,
      changedRange: range,
      failureScenario: 'An empty password signs in.',
      requiredFix: 'Refuse an empty password before the look-up.',
      evidenceRefs: [ref('login-trace')],
      method: 'model',
      verifierRuntime: null,
      contextManifestDigest: null,
      confidence: 80,
      lineage: null,
      observedAt: AS_OF - 20 * MINUTE,
      ...over,
    };
  }

  disposition(
    finding: Finding,
    disposition: DispositionRecord['disposition'],
    over: Partial<DispositionRecord> = {},
  ): DispositionRecord {
    return {
      schema: 'portcullis/disposition/v1',
      tenant: this.world.subject.tenant,
      dispositionId: this.next('disposition'),
      findingId: finding.findingId,
      findingDigest: findingDigest(finding),
      onSubjectDigest: subjectDigest(this.world.subject),
      runId: 'run-1',
      disposition,
      evidenceRefs: disposition === 'resolved' ? [{ id: 'report', digest: bytesOf('the report') }] : [],
      reasonCode: 'read_again',
      supersededBy: disposition === 'superseded_by_subject_change' ? 'b'.repeat(40) : null,
      observedAt: AS_OF - 15 * MINUTE,
      ...over,
    };
  }

  human(over: Partial<HumanDecision> = {}): HumanDecision {
    const decisionId = this.next('human');
    return {
      schema: 'portcullis/human-decision/v1',
      tenant: this.world.subject.tenant,
      decisionId,
      subjectDigest: subjectDigest(this.world.subject),
      gate: this.world.gate,
      policyRevision: this.world.policy.revision,
      principal: principal(`ada-${decisionId}`),
      role: 'operator',
      decision: 'approve',
      case: null,
      reason: ref('reason'),
      selfReview: false,
      expiresAt: null,
      observedAt: AS_OF - 5 * MINUTE,
      ...over,
    };
  }

  /** What makes this world pass at low risk. */
  clean(): readonly EvidenceRecord[] {
    const { policy } = this.world;
    return [
      ...policy.requiredChecks.map((rule) => this.check(rule.checkId)),
      ...policy.verifierClasses.map((rule) => this.run(rule.class)),
    ];
  }
}

export function inputOf(
  world: World,
  records: readonly EvidenceRecord[],
  more: readonly EvidenceItem[] = [],
): GateInput {
  return {
    subject: { record: world.subject, digest: subjectDigest(world.subject) },
    policy: { record: world.policy, digest: gatePolicyDigest(world.policy) },
    definition: { record: world.definition, digest: gateDefinitionDigest(world.definition) },
    evidence: evidenceSetOf([...records.map(evidenceItem), ...more]),
    asOf: AS_OF,
  };
}
