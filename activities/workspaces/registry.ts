/** Reads the registry of workspaces from its document. Never from a checkout: what is under test does not choose its workers. */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lintWorkspaceRegistry } from '../../policies/workspaces/lint.ts';
import { canonicalBytes } from '../../schemas/canonical.ts';
import { contentDigest } from '../../schemas/digest.ts';
import { PortcullisError, portcullisError } from '../../schemas/errors.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import type { LoadedWorkspaceRegistry } from '../../schemas/workspace/registry.ts';
import { workspaceRegistryDocument } from '../../schemas/workspace/registry.schema.ts';

/** The document that comes with the program. */
export function shippedWorkspaceRegistry(): string {
  const layers = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
  return join(layers, 'policies', 'workspaces', 'registry.json');
}

/** @throws `setting_invalid` when the document is missing, malformed or has a finding of lint. */
export async function loadWorkspaceRegistry(
  file: string = shippedWorkspaceRegistry(),
): Promise<LoadedWorkspaceRegistry> {
  let document: unknown;
  try {
    document = readStrictJson(await readFile(file));
  } catch (error) {
    throw unusable(file, error instanceof PortcullisError ? error.message : 'cannot be read', error);
  }
  const parsed = workspaceRegistryDocument.safeParse(document);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw unusable(file, `${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is not a workspace registry'}`.trim());
  }
  const [finding] = lintWorkspaceRegistry(parsed.data);
  if (finding !== undefined) throw unusable(file, `${finding.role}: ${finding.problem}`);
  return { registry: parsed.data, workforceRevision: contentDigest(canonicalBytes(parsed.data)) };
}

function unusable(what: string, reason: string, cause?: unknown): PortcullisError {
  return portcullisError('setting_invalid', { name: `workspace registry ${what}`, reason }, cause);
}
