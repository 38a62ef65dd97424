/** Reads routing policies from their documents, checked for shape and for sense. */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { lintRoutingPolicy } from '../../policies/routing/lint.ts';
import type { LoadedRoutingPolicy, RoutingPolicy } from '../../policies/routing/types.ts';
import { digestOf } from '../../schemas/digest.ts';
import { PortcullisError, portcullisError } from '../../schemas/errors.ts';
import { EXECUTOR_ROLES, ROLES } from '../../schemas/names.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import { WORKING_DIRECTORIES } from '../../schemas/verify/request.ts';

/** The policy that rules unless settings name another. */
export const DEFAULT_ROUTING_POLICY = 'default';

const executor = z.enum(EXECUTOR_ROLES);

/** Strict: a key that is not known would be a rule that nobody applies. */
export const routingPolicyDocument = z.strictObject({
  schema: z.literal('portcullis/routing-policy/v1'),
  id: z.string().regex(/^[a-z][a-z0-9-]{0,63}$/),
  revision: z.int().min(1),
  defaults: z.strictObject({ repo: executor, worktree: executor }),
  rules: z
    .array(z.strictObject({ executor, cwd: z.array(z.enum(WORKING_DIRECTORIES)), askedBy: z.array(z.enum(ROLES)) }))
    .max(EXECUTOR_ROLES.length),
}) satisfies z.ZodType<RoutingPolicy>;

/** The documents that come with the program. */
export function shippedRoutingPolicies(): string {
  const layers = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
  return join(layers, 'policies', 'routing', 'documents');
}

/**
 * The policy of this id in the directory, with its digest.
 * @throws `setting_invalid` when the document is missing, malformed or has a finding of lint.
 */
export async function loadRoutingPolicy(
  directory: string = shippedRoutingPolicies(),
  id: string = DEFAULT_ROUTING_POLICY,
): Promise<LoadedRoutingPolicy> {
  const policy = await readDocument(join(directory, `${id}.json`));
  if (policy.id !== id) throw unusable(id, `calls itself ${policy.id}`);
  const [finding] = lintRoutingPolicy(policy);
  if (finding !== undefined) throw unusable(id, `${finding.path}: ${finding.problem}`);
  return { policy, digest: digestOf('policy', policy) };
}

async function readDocument(file: string): Promise<RoutingPolicy> {
  let document: unknown;
  try {
    document = readStrictJson(await readFile(file));
  } catch (error) {
    throw unusable(file, error instanceof PortcullisError ? error.message : 'cannot be read', error);
  }
  const parsed = routingPolicyDocument.safeParse(document);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw unusable(file, `${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is not a routing policy'}`.trim());
}

function unusable(what: string, reason: string, cause?: unknown): PortcullisError {
  return portcullisError('setting_invalid', { name: `routing policy ${what}`, reason }, cause);
}
