/** `portcullis policy lint [FILE…]`: whether policy documents may be registered, with every problem of each. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { shippedCommandPolicies } from '../../activities/policy/load.ts';
import { commandPolicyDocument } from '../../activities/policy/document.ts';
import { routingPolicyDocument, shippedRoutingPolicies } from '../../activities/policy/routing.ts';
import { PACKAGE_ROOT } from '../../local/package-root.ts';
import { lintCommandPolicy } from '../../policies/commands/lint.ts';
import type { CommandPolicy } from '../../policies/commands/types.ts';
import { lintGatePolicy } from '../../policies/gates/register.ts';
import { lintRoutingPolicy } from '../../policies/routing/lint.ts';
import type { RoutingPolicy } from '../../policies/routing/types.ts';
import type { JsonValue } from '../../schemas/canonical.ts';
import { digestOf, type Digest } from '../../schemas/digest.ts';
import { PortcullisError } from '../../schemas/errors.ts';
import { readStrictJson, STRICT_JSON_LIMITS } from '../../schemas/strict-json.ts';
import type { Output } from '../output.ts';
import { action, exampleHelp } from '../program.ts';
import { readBoundedFile } from '../read-file.ts';

interface DocumentProblem {
  readonly code: string;
  readonly path: string;
  readonly sentence: string;
}

interface LintedDocument {
  readonly file: string;
  readonly kind: 'gate' | 'command' | 'routing' | 'unknown';
  readonly id: string | null;
  readonly revision: number | null;
  /** What a subject pins; `null` while there are problems. */
  readonly digest: Digest<'policy'> | null;
  readonly problems: readonly DocumentProblem[];
}

/** The verb; whoever builds the noun `policy` adds it. */
export function policyLintCommand(): Command {
  const command = new Command('lint')
    .description('check policy documents as registration would; the shipped ones unless named')
    .argument('[file...]', 'documents of gate, command or routing policies');
  exampleHelp(command, 'portcullis policy lint', 'portcullis policy lint my-merge-policy.json --json');
  return action(command, ({ output }, called) => policyLint({ files: called.args }, output));
}

/** @returns 0 when every document may be registered, 3 otherwise. @throws `not_found` without such a file */
export async function policyLint({ files }: { readonly files: readonly string[] }, output: Output): Promise<number> {
  const documents: LintedDocument[] = [];
  for (const file of files.length > 0 ? files : await shippedDocuments()) documents.push(await lintFile(file));
  const valid = documents.every((document) => document.problems.length === 0);
  output.result('PolicyLint', { valid, documents }, documents.map((document) => textOf(document, output)).join('\n'));
  return valid ? 0 : 3;
}

/** The gate policies that come with the program. */
export function shippedGatePolicies(): string {
  return join(PACKAGE_ROOT, 'policies', 'gates', 'documents');
}

async function shippedDocuments(): Promise<readonly string[]> {
  const listed = await Promise.all(
    [shippedGatePolicies(), shippedCommandPolicies(), shippedRoutingPolicies()].map(async (directory) =>
      (await readdir(directory)).filter((name) => name.endsWith('.json')).map((name) => join(directory, name)),
    ),
  );
  return listed.flat().sort();
}

async function lintFile(file: string): Promise<LintedDocument> {
  const bytes = await readBoundedFile(file, STRICT_JSON_LIMITS.maxBytes);
  let value: JsonValue;
  try {
    value = readStrictJson(bytes);
  } catch (error) {
    if (!(error instanceof PortcullisError)) throw error;
    const problems = [{ code: error.code, path: 'document', sentence: error.message }];
    return { file, kind: 'unknown', id: null, revision: null, digest: null, problems };
  }
  switch (schemaOf(value)) {
    case 'portcullis/command-policy/v1':
      return lintCommand(file, value);
    case 'portcullis/routing-policy/v1':
      return lintRouting(file, value);
    default:
      return lintGate(file, value);
  }
}

function lintGate(file: string, value: JsonValue): LintedDocument {
  const { problems, registered } = lintGatePolicy(value);
  const { id = null, revision = null } = registered?.policy ?? {};
  return { file, kind: 'gate', id, revision, digest: registered?.digest ?? null, problems };
}

function lintCommand(file: string, value: JsonValue): LintedDocument {
  const parsed = commandPolicyDocument.safeParse(value);
  if (!parsed.success) {
    return malformed(file, 'command', parsed.error.issues);
  }
  const problems = lintCommandPolicy(parsed.data).map(({ template, problem }) => ({
    code: 'command_policy',
    path: template === '' ? 'policy' : `templates.${template}`,
    sentence: problem,
  }));
  return linted(file, 'command', parsed.data, problems);
}

function lintRouting(file: string, value: JsonValue): LintedDocument {
  const parsed = routingPolicyDocument.safeParse(value);
  if (!parsed.success) return malformed(file, 'routing', parsed.error.issues);
  const problems = lintRoutingPolicy(parsed.data).map(({ path, problem }) => ({
    code: 'routing_policy',
    path,
    sentence: problem,
  }));
  return linted(file, 'routing', parsed.data, problems);
}

type Issue = { readonly path: readonly PropertyKey[]; readonly message: string };

function malformed(file: string, kind: LintedDocument['kind'], issues: readonly Issue[]): LintedDocument {
  const problems = issues.map(({ path, message }) => ({
    code: 'schema',
    path: path.map(String).join('.') || 'policy',
    sentence: message,
  }));
  return { file, kind, id: null, revision: null, digest: null, problems };
}

function linted(
  file: string,
  kind: LintedDocument['kind'],
  policy: CommandPolicy | RoutingPolicy,
  problems: readonly DocumentProblem[],
): LintedDocument {
  const { id, revision } = policy;
  return { file, kind, id, revision, digest: problems.length > 0 ? null : digestOf('policy', policy), problems };
}

function schemaOf(value: JsonValue): JsonValue | undefined {
  return typeof value === 'object' && value !== null && 'schema' in value ? value.schema : undefined;
}

function textOf(document: LintedDocument, output: Output): string {
  if (document.problems.length === 0) {
    const name = `${document.kind} policy ${document.id ?? ''} revision ${document.revision ?? ''}`;
    return `${output.style('good', 'ok')}   ${document.file}\n     ${name}, ${document.digest ?? ''}`;
  }
  const lines = document.problems.map(({ code, path, sentence }) => `     ${path}: ${sentence} [${code}]`);
  return [`${output.style('bad', 'bad')}  ${document.file}`, ...lines].join('\n');
}
