/** `portcullis policy lint [FILE…]`: whether policy documents may be registered, with every problem of each. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { shippedCommandPolicies } from '../../activities/policy/load.ts';
import { commandPolicyDocument } from '../../activities/policy/document.ts';
import { PACKAGE_ROOT } from '../../local/package-root.ts';
import { lintCommandPolicy } from '../../policies/commands/lint.ts';
import { lintGatePolicy } from '../../policies/gates/register.ts';
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
  readonly kind: 'gate' | 'command' | 'unknown';
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
    .argument('[file...]', 'documents of gate or command policies');
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
    [shippedGatePolicies(), shippedCommandPolicies()].map(async (directory) =>
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
  return schemaOf(value) === 'portcullis/command-policy/v1' ? lintCommand(file, value) : lintGate(file, value);
}

function lintGate(file: string, value: JsonValue): LintedDocument {
  const { problems, registered } = lintGatePolicy(value);
  const { id = null, revision = null } = registered?.policy ?? {};
  return { file, kind: 'gate', id, revision, digest: registered?.digest ?? null, problems };
}

function lintCommand(file: string, value: JsonValue): LintedDocument {
  const parsed = commandPolicyDocument.safeParse(value);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => ({
      code: 'schema',
      path: issue.path.join('.') || 'policy',
      sentence: issue.message,
    }));
    return { file, kind: 'command', id: null, revision: null, digest: null, problems };
  }
  const { id, revision } = parsed.data;
  const problems = lintCommandPolicy(parsed.data).map(({ template, problem }) => ({
    code: 'command_policy',
    path: template === '' ? 'policy' : `templates.${template}`,
    sentence: problem,
  }));
  return {
    file,
    kind: 'command',
    id,
    revision,
    digest: problems.length > 0 ? null : digestOf('policy', parsed.data),
    problems,
  };
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
