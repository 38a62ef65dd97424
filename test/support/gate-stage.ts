/**
 * One store with everything that a gate needs in it: the shipped policies, a ticket at an execution, and a subject that names
 * exactly what its policy asks for. The activities are the real ones, each over a connection of its own user.
 */
import { afterAll, beforeAll } from 'vitest';
import { evidenceActivities } from '../../activities/evidence/activities.ts';
import type { EvidenceDependencies } from '../../activities/evidence/dependencies.ts';
import { loadGateDocuments } from '../../activities/evidence/gate-documents.ts';
import { registerPolicies } from '../../activities/evidence/policies.ts';
import { evaluateSubject, type GateDependencies } from '../../activities/gate/evaluate.ts';
import { generateSigningKey, verifyingKeyOf, type SigningKey } from '../../activities/signing/keys.ts';
import { auditReader } from '../../activities/store/audit-chain.ts';
import { connectStore, type StoreConnection } from '../../activities/store/connect.ts';
import { controlStore } from '../../activities/store/control.ts';
import { decisionStore } from '../../activities/store/decisions.ts';
import { evidenceStore } from '../../activities/store/evidence.ts';
import type { ControlStore } from '../../activities/store/port.ts';
import type { StoreUser } from '../../activities/store/users.ts';
import type { Digest } from '../../schemas/digest.ts';
import type { EvaluatedSubject, EvidenceActivities } from '../../schemas/gate/activities.ts';
import { subjectDigest, type SubjectManifest } from '../../schemas/gate/subject.ts';
import type { CriterionStatus, GateKind } from '../../schemas/gate/vocabulary.ts';
import { Maker, principal, ref, worldOf, type World } from './gate-fixtures.ts';
import { openAuditor, type Auditor } from './store-auditor.ts';
import { startStoreServer, type StoreServer } from './store-server.ts';

/** Of these tests alone: their workers share a Temporal server with others'. */
export const TENANT = 'gated';

export interface GateStage {
  readonly server: StoreServer;
  /** Sees and changes everything, as nobody of the product can. */
  readonly auditor: Auditor;
  readonly control: ControlStore;
  readonly evidence: EvidenceActivities;
  readonly needs: EvidenceDependencies;
  readonly gate: GateDependencies;
  readonly gateKey: SigningKey;
  readonly connect: (user: StoreUser) => Promise<StoreConnection>;
}

/** Starts everything before the suite and ends it after; call the answer inside tests. */
export function useGateStage(): () => GateStage {
  let stage: GateStage | null = null;
  const connections: StoreConnection[] = [];
  beforeAll(async () => {
    const server = await startStoreServer({ tenants: [TENANT], extraUsers: [openAuditor.user] });
    const connect = async (user: StoreUser) => {
      const connection = await connectStore(server.settings(user));
      connections.push(connection);
      return connection;
    };
    const [control, gate] = await Promise.all([connect('control'), connect('gate')]);
    const [actionKey, gateKey] = [generateSigningKey(), generateSigningKey()];
    const store = controlStore(control);
    const needs: EvidenceDependencies = {
      evidence: evidenceStore(control),
      store,
      actionKey,
      gateKeys: () => Promise.resolve([verifyingKeyOf(gateKey)]),
    };
    await registerPolicies(needs, TENANT, await loadGateDocuments());
    stage = {
      server,
      auditor: openAuditor(server.port),
      control: store,
      evidence: evidenceActivities(needs),
      needs,
      gate: { store: decisionStore(gate), chain: auditReader(gate), key: gateKey },
      gateKey,
      connect,
    };
  });
  afterAll(async () => {
    stage?.auditor.disconnect();
    await Promise.all(connections.map((connection) => connection.close()));
    await stage?.server.close();
  });
  return () => {
    if (stage === null) throw new Error('The stage is set before the tests, not while they are collected.');
    return stage;
  };
}

let tickets = 0;

/** A subject of a ticket of its own, registered and current. */
export async function stagedSubject(
  { control, evidence }: GateStage,
  kind: GateKind = 'operation',
  changes: Partial<SubjectManifest> = {},
): Promise<StagedSubject> {
  tickets += 1;
  const missionId = `T-${tickets}`;
  const world = worldOf(kind, { subject: { tenant: TENANT, missionId, ...changes } });
  const { executionId, executionGeneration } = world.subject;
  await moveExecution(control, world.subject, executionId, executionGeneration);
  await evidence.registerSubject({ tenant: TENANT, manifest: world.subject });
  return new StagedSubject(world);
}

/** The ticket is at this execution from now on. */
export async function moveExecution(
  control: ControlStore,
  { missionId }: SubjectManifest,
  execution: string,
  generation: number,
): Promise<void> {
  await control.writeHead(TENANT, {
    schema: 'portcullis/pair-head/v1',
    pair: missionId,
    headSha: 'b'.repeat(40),
    baseSha: 'a'.repeat(40),
    execution,
    generation,
  });
}

export class StagedSubject {
  readonly world: World;
  readonly make: Maker;
  readonly digest: Digest<'subject'>;
  #dispatches = 0;
  #runs = 0;
  #evaluations = 0;

  constructor(world: World) {
    this.world = world;
    this.make = new Maker(world);
    this.digest = subjectDigest(world.subject);
  }

  get ref() {
    return { tenant: TENANT, subjectDigest: this.digest };
  }

  /** One attempt of a check that the control plane answers itself, opened and closed. */
  async check({ evidence }: GateStage, status: CriterionStatus = 'passed', checkId?: string) {
    const id = checkId ?? this.world.subject.requiredChecks[0]?.checkId ?? '';
    const dispatch = `dispatch-${(this.#dispatches += 1)}`;
    const opened = await evidence.openAttempt({ ...this.ref, checkId: id, dispatch });
    if (opened.kind !== 'opened') throw new Error(`the attempt is ${opened.reason}`);
    const { attempt } = opened;
    const outcome = { by: 'control', status, refs: [ref(`${id}-output`)] } as const;
    return evidence.recordCheck({ ...this.ref, checkId: id, attempt, outcome });
  }

  /** A run of a verifier under a grant of its own. */
  async run(stage: GateStage, rows: Readonly<Record<string, CriterionStatus>> = {}) {
    const run = await this.grantedRun(stage, rows);
    return stage.evidence.recordRun({ tenant: TENANT, run });
  }

  /** The same without recording it. */
  async grantedRun({ evidence, control }: GateStage, rows: Readonly<Record<string, CriterionStatus>> = {}) {
    const observedAt = await control.now();
    const id = `${this.world.subject.missionId}-${(this.#runs += 1)}`;
    const verifier = principal(`verifier-${id}`);
    const verifierClass = this.world.policy.verifierClasses[0]?.class ?? 'reviewer';
    const { executionGeneration: generation } = this.world.subject;
    await evidence.recordGrant({
      tenant: TENANT,
      grant: {
        schema: 'portcullis/grant/v1',
        tenant: TENANT,
        id: `grant-${id}`,
        revision: 1,
        principal: verifier,
        resources: [],
        appendTo: `run-${id}`,
        expiresAt: observedAt + 3_600_000,
        generation,
        revokedAt: null,
      },
    });
    return this.make.run(verifierClass, rows, {
      runId: `run-${id}`,
      verifier: { principal: verifier, class: verifierClass },
      grant: { id: `grant-${id}`, revision: 1 },
      observedAt,
    });
  }

  /** Everything that makes it pass. */
  async passing(stage: GateStage): Promise<this> {
    await this.check(stage);
    await this.run(stage);
    return this;
  }

  evaluate({ gate }: GateStage): Promise<EvaluatedSubject> {
    return evaluateSubject(gate, { ...this.ref, kind: this.world.gate, n: (this.#evaluations += 1) });
  }
}
