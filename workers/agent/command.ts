/**
 * `portcullis` inside a workspace: what an agent may ask of the control plane.
 *
 *     portcullis context
 *     portcullis submit plan|segment|ready
 *     portcullis append FILE
 *     portcullis approve|reject [--token-file FILE]
 *
 * The commit that is submitted is HEAD, which has to be pushed; revision, segment, approval and review are those of the
 * context. Exit codes are the catalogue's: 0 done, 3 refused, 5 not available, 7 not allowed.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { contentDigest } from '../../schemas/digest.ts';
import { asPortcullisError, portcullisError } from '../../schemas/errors.ts';
import type { Assignment, HarnessContext } from '../../schemas/harness-api.ts';
import { harnessCallsOf, type HarnessCalls } from './calls.ts';
import { HARNESS_VARIABLE } from './turn.ts';

/** Runs one command; what it prints. @throws the catalogue's errors */
export async function runAgentCommand(calls: HarnessCalls, argv: readonly string[]): Promise<string> {
  const [command, ...rest] = argv;
  switch (command) {
    case 'context':
      return JSON.stringify(withoutToken(await calls.context()), null, 2);
    case 'submit':
      return submit(calls, rest[0] ?? '');
    case 'append':
      return append(calls, rest[0] ?? '');
    case 'approve':
    case 'reject':
      return answer(calls, command, rest);
    default:
      throw portcullisError('usage', { reason: 'Commands: context, submit, append, approve, reject.' });
  }
}

async function submit(calls: HarnessCalls, what: string): Promise<string> {
  const { revision, segment } = assigned(await calls.context());
  const commit = await headCommit();
  switch (what) {
    case 'plan':
      return said(await calls.submitPlan({ commit, revision }));
    case 'segment': {
      if (segment === null) throw portcullisError('usage', { reason: 'No segment is asked for now.' });
      return said(await calls.submitSegment({ n: segment.n, commit, revision }));
    }
    case 'ready':
      return said(await calls.submitReady({ commit, revision }));
    default:
      throw portcullisError('usage', { reason: 'Submit what: plan, segment or ready?' });
  }
}

async function append(calls: HarnessCalls, file: string): Promise<string> {
  if (file === '') throw portcullisError('usage', { reason: 'Append which file?' });
  const { digest, bytes } = await calls.appendReview(basename(file), await readReviewFile(file));
  return `appended ${basename(file)}, ${bytes} bytes: ${digest}`;
}

async function answer(calls: HarnessCalls, command: 'approve' | 'reject', rest: readonly string[]): Promise<string> {
  const context = await calls.context();
  const { review } = assigned(context);
  const { approval } = context;
  if (review === null || approval === null) throw portcullisError('approval_unknown');
  const [option, file] = rest;
  if (option !== undefined && (option !== '--token-file' || file === undefined)) {
    throw portcullisError('usage', { reason: `The one option is --token-file FILE.` });
  }
  const token = file === undefined ? approval.token : (await readFile(file, 'utf8')).trim();
  const reviewDigest = contentDigest(await readReviewFile(review));
  const { verdict } = await calls[command]({ approvalId: approval.id, token, reviewDigest });
  return `${verdict.toLowerCase()}: ${approval.id.slice(0, 12)}`;
}

function assigned({ assignment }: HarnessContext): Assignment {
  if (assignment === null) throw portcullisError('not_found', { what: 'assignment', id: 'for this workspace' });
  return assignment;
}

/** What is shown may be kept in an agent's log; a token is fetched where it is used. */
function withoutToken({ approval, ...rest }: HarnessContext) {
  return { ...rest, approval: approval === null ? null : { id: approval.id, expiresAt: approval.expiresAt } };
}

async function readReviewFile(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (thrown) {
    throw portcullisError('not_found', { what: 'file', id: file }, thrown);
  }
}

async function headCommit(): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('git', ['rev-parse', '--verify', 'HEAD^{commit}'], {
      timeout: 10_000,
    });
    return stdout.trim();
  } catch (thrown) {
    throw portcullisError('repository_invalid', { path: process.cwd(), reason: 'it has no commit' }, thrown);
  }
}

function said({ phase, revision }: { readonly phase: string; readonly revision: number }): string {
  return `accepted: the ticket is in ${phase}, revision ${revision}`;
}

if (import.meta.main) {
  try {
    const calls = await harnessCallsOf(process.env[HARNESS_VARIABLE] ?? '');
    process.stdout.write(`${await runAgentCommand(calls, process.argv.slice(2))}\n`);
  } catch (thrown) {
    const error = asPortcullisError(thrown);
    process.stderr.write(`${error.code}: ${error.message} ${error.mend}\n`);
    process.exitCode = error.edge.exit;
  }
}
