/**
 * The reviewed documents of gates: a policy and a definition for each kind, and the check definitions they accept. Read from the
 * trusted directory only: what is judged does not choose what judges it.
 */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonValue } from '../../schemas/canonical.ts';
import type { Digest } from '../../schemas/digest.ts';
import { PortcullisError, portcullisError } from '../../schemas/errors.ts';
import { checkDefinitionDigest, type CheckDefinition } from '../../schemas/gate/check.ts';
import { checkDefinitionSchema } from '../../schemas/gate/evidence.schema.ts';
import { readWith } from '../../schemas/gate/fields.schema.ts';
import { readGateDefinition } from '../../schemas/gate/policy.schema.ts';
import { gateDefinitionDigest, type GateDefinition, type GatePolicy } from '../../schemas/gate/policy.ts';
import { GATE_KINDS, type GateKind } from '../../schemas/gate/vocabulary.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import { registerGatePolicy } from '../../policies/gates/register.ts';

export interface GateDocument {
  readonly gate: GateKind;
  readonly policy: { readonly record: GatePolicy; readonly digest: Digest<'policy'> };
  readonly definition: { readonly record: GateDefinition; readonly digest: Digest<'gate-definition'> };
}

export interface GateDocuments {
  readonly gates: readonly GateDocument[];
  readonly checks: readonly { readonly record: CheckDefinition; readonly digest: Digest<'definition'> }[];
}

/** The documents that come with the program. */
export function shippedGateDocuments(): string {
  const layers = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
  return join(layers, 'policies', 'gates', 'documents');
}

/** @throws `setting_invalid` when one is missing, malformed, refused by registration, or does not name the others */
export async function loadGateDocuments(directory: string = shippedGateDocuments()): Promise<GateDocuments> {
  const checks = await Promise.all(
    (await jsonFiles(join(directory, 'checks'))).map(async (file) => {
      const record = await read(file, (value) => readWith(checkDefinitionSchema, value, 'check definition'));
      return { record, digest: checkDefinitionDigest(record) };
    }),
  );
  const gates = await Promise.all(GATE_KINDS.map((gate) => loadGate(directory, gate)));
  const known = new Set(checks.map(({ digest }) => digest));
  for (const { gate, policy } of gates) {
    const rules = [...policy.record.requiredChecks, ...policy.record.riskRules.flatMap((rule) => rule.requiredChecks)];
    const missing = rules.flatMap((rule) => rule.definitionDigestIn).find((digest) => !known.has(digest));
    if (missing !== undefined) throw unusable(gate, `accepts the check definition ${missing}, which is not there`);
  }
  return { gates, checks };
}

async function loadGate(directory: string, gate: GateKind): Promise<GateDocument> {
  const { policy, digest } = await read(join(directory, `${gate}.json`), registerGatePolicy);
  const definition = await read(join(directory, 'gates', `${gate}.json`), readGateDefinition);
  if (definition.gate !== gate || definition.policy.digest !== digest) {
    throw unusable(gate, 'has a definition that does not name it');
  }
  return {
    gate,
    policy: { record: policy, digest },
    definition: { record: definition, digest: gateDefinitionDigest(definition) },
  };
}

async function read<T>(file: string, parse: (value: JsonValue) => T): Promise<T> {
  try {
    return parse(readStrictJson(await readFile(file)));
  } catch (thrown) {
    throw unusable(file, thrown instanceof PortcullisError ? thrown.message : 'cannot be read', thrown);
  }
}

async function jsonFiles(directory: string): Promise<readonly string[]> {
  try {
    const names = await readdir(directory);
    return names
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => join(directory, name));
  } catch (thrown) {
    throw unusable(directory, 'cannot be read', thrown);
  }
}

function unusable(what: string, reason: string, cause?: unknown): PortcullisError {
  return portcullisError('setting_invalid', { name: `gate policy ${what}`, reason }, cause);
}
