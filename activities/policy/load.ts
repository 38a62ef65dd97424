/** Reads command policies from their documents. Never from a checkout: what is under test does not choose its policy. */
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lintCommandPolicy } from '../../policies/commands/lint.ts';
import type { CommandPolicy, LoadedCommandPolicy } from '../../policies/commands/types.ts';
import { digestOf } from '../../schemas/digest.ts';
import { PortcullisError, portcullisError } from '../../schemas/errors.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import { commandPolicyDocument } from './document.ts';

/** The policy that rules unless settings name another. */
export const DEFAULT_COMMAND_POLICY = 'default';

/** The documents that come with the program. */
export function shippedCommandPolicies(): string {
  const layers = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
  return join(layers, 'policies', 'commands', 'documents');
}

/**
 * The policy of this id in the directory, with its digest.
 * @throws `setting_invalid` when the document is missing, malformed or has a finding of lint.
 */
export async function loadCommandPolicy(
  directory: string = shippedCommandPolicies(),
  id: string = DEFAULT_COMMAND_POLICY,
): Promise<LoadedCommandPolicy> {
  const policy = await readCommandPolicy(join(directory, `${id}.json`));
  if (policy.id !== id) throw unusable(id, `calls itself ${policy.id}`);
  const [finding] = lintCommandPolicy(policy);
  if (finding !== undefined) {
    throw unusable(id, finding.template === '' ? finding.problem : `template ${finding.template}: ${finding.problem}`);
  }
  return { policy, digest: digestOf('policy', policy) };
}

/** The document of one file, checked for shape and not yet for sense. @throws `setting_invalid` */
export async function readCommandPolicy(file: string): Promise<CommandPolicy> {
  let document: unknown;
  try {
    document = readStrictJson(await readFile(file));
  } catch (error) {
    throw unusable(file, error instanceof PortcullisError ? error.message : 'cannot be read', error);
  }
  const parsed = commandPolicyDocument.safeParse(document);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw unusable(file, `${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is not a command policy'}`.trim());
}

/** The documents of a directory, by file name. @throws `setting_invalid` */
export async function listCommandPolicies(directory: string = shippedCommandPolicies()): Promise<readonly string[]> {
  try {
    const names = await readdir(directory);
    return names.filter((name) => name.endsWith('.json')).sort();
  } catch (error) {
    throw unusable(directory, 'cannot be read', error);
  }
}

function unusable(what: string, reason: string, cause?: unknown): PortcullisError {
  return portcullisError('setting_invalid', { name: `command policy ${what}`, reason }, cause);
}
