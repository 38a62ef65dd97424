/** Registers the gates' policies of the trusted directory, and says what the current one of a gate asks for. */
import { portcullisError } from '../../schemas/errors.ts';
import type { GateRef, GateRequirements } from '../../schemas/gate/activities.ts';
import type { PolicyHead } from '../../schemas/gate/heads.ts';
import { auditWriter } from '../audit/write.ts';
import type { GateReader } from '../store/gate-port.ts';
import type { EvidenceDependencies } from './dependencies.ts';
import type { GateDocument, GateDocuments } from './gate-documents.ts';

/**
 * Writes every document under its digest and moves the heads of the gates to them. Repeatable; called when the control worker
 * starts. @throws `gate_policy_refused` for a document that is older than the registered one, or differs at the same revision
 */
export async function registerPolicies(
  needs: Pick<EvidenceDependencies, 'evidence' | 'actionKey'>,
  tenant: string,
  { gates, checks }: GateDocuments,
): Promise<void> {
  for (const { record, digest } of checks) await needs.evidence.writePolicyDocument(tenant, digest, record);
  for (const document of gates) {
    const { policy, definition } = document;
    await needs.evidence.writePolicyDocument(tenant, policy.digest, policy.record);
    await needs.evidence.writePolicyDocument(tenant, definition.digest, definition.record);
    await moveHead(needs, tenant, document);
  }
}

async function moveHead(
  needs: Pick<EvidenceDependencies, 'evidence' | 'actionKey'>,
  tenant: string,
  { gate, policy, definition }: GateDocument,
): Promise<void> {
  const from = await needs.evidence.readPolicyHead(tenant, gate);
  const to: PolicyHead = {
    schema: 'portcullis/policy-head/v1',
    gate,
    policy: { id: policy.record.id, revision: policy.record.revision, digest: policy.digest },
    definition: { id: definition.record.id, revision: definition.record.revision, digest: definition.digest },
  };
  if (from !== null) {
    refuseBackwards(`the policy of the gate ${gate}`, from.policy, to.policy);
    refuseBackwards(`the definition of the gate ${gate}`, from.definition, to.definition);
    if (from.policy.digest === to.policy.digest && from.definition.digest === to.definition.digest) return;
  }
  const refs = { gate, policy: to.policy.digest, definition: to.definition.digest };
  await needs.evidence.movePolicyHead(
    tenant,
    from,
    to,
    auditWriter(tenant, needs.actionKey, 'policy_registered', refs),
  );
}

interface Revised {
  readonly revision: number;
  readonly digest: string;
}

function refuseBackwards(path: string, from: Revised, to: Revised): void {
  if (to.digest === from.digest || to.revision > from.revision) return;
  const reason = `is of revision ${to.revision} and revision ${from.revision} with other content is registered: raise its revision`;
  throw portcullisError('gate_policy_refused', { path, reason });
}

/** @throws `not_found` when no policy of this gate is registered */
export async function gateRequirements(
  { evidence }: { readonly evidence: Pick<GateReader, 'readPolicyHead' | 'readPolicy' | 'readCheckDefinition'> },
  { tenant, gate }: GateRef,
): Promise<GateRequirements> {
  const head = await evidence.readPolicyHead(tenant, gate);
  const policy = head === null ? null : await evidence.readPolicy(tenant, head.policy.digest);
  if (head === null || policy === null) throw portcullisError('not_found', { what: 'policy of the gate', id: gate });
  const checks = await Promise.all(
    policy.requiredChecks.map(async ({ checkId, attestation, definitionDigestIn }) => ({
      checkId,
      attestation,
      accepts: await Promise.all(
        definitionDigestIn.map(async (digest) => {
          const definition = await evidence.readCheckDefinition(tenant, digest);
          if (definition === null) throw portcullisError('not_found', { what: 'check definition', id: digest });
          return { digest, definition };
        }),
      ),
    })),
  );
  return {
    policy: head.policy,
    definition: head.definition,
    checks,
    verifierClasses: policy.verifierClasses,
    humans: policy.humans.map(({ role, min }) => ({ role, min })),
  };
}
