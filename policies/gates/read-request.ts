/** From a request file to what the evaluator takes: every digest made here, none believed. */
import type { JsonValue } from '../../schemas/canonical.ts';
import { parseDigest } from '../../schemas/digest.ts';
import { evidenceRecordSchema } from '../../schemas/gate/evidence.schema.ts';
import { evidenceItem, evidenceSetOf, type EvidenceItem } from '../../schemas/gate/evidence-set.ts';
import { readWith } from '../../schemas/gate/fields.schema.ts';
import { readGateRequestFrame, readIndexedRecord } from '../../schemas/gate/gate-request.schema.ts';
import { readGateDefinition } from '../../schemas/gate/policy.schema.ts';
import { gateDefinitionDigest } from '../../schemas/gate/policy.ts';
import { readSubject } from '../../schemas/gate/subject.schema.ts';
import { orderedSubject, subjectDigest } from '../../schemas/gate/subject.ts';
import type { GateInput } from './input.ts';
import { readFoundRecord } from './read-evidence.ts';
import { registerGatePolicy } from './register.ts';

/**
 * @throws `schema_invalid` naming the field, `gate_policy_refused` for a policy that registration refuses. A record under a
 * digest (`{digest, record}`) is read as the gate worker reads the store: one that does not fit is evidence of that, no error.
 */
export function readGateRequest(value: JsonValue): GateInput {
  const request = readGateRequestFrame(value);
  const subject = orderedSubject(readSubject(request.subject));
  const { policy, digest } = registerGatePolicy(request.policy);
  const definition = readGateDefinition(request.definition);
  return {
    subject: { record: subject, digest: subjectDigest(subject) },
    policy: { record: policy, digest },
    definition: { record: definition, digest: gateDefinitionDigest(definition) },
    evidence: evidenceSetOf(request.evidence.map(readItem)),
    asOf: Date.parse(request.asOf),
  };
}

function readItem(value: JsonValue, index: number): EvidenceItem {
  const what = `evidence.${index}`;
  const indexed = readIndexedRecord(value, what);
  if (indexed === null) return evidenceItem(readWith(evidenceRecordSchema, value, what));
  return readFoundRecord({ digest: parseDigest('evidence', indexed.digest), found: indexed.record });
}
