/**
 * One preparation, from the policy's step to what the command finds: planned from the commit's files, looked up, otherwise
 * made in a sandbox of its own whose network is one socket, kept. A failure here is never a failed test.
 */
import { join } from 'node:path';
import { PortcullisError } from '../../../schemas/errors.ts';
import type { ContentDigest } from '../../../schemas/digest.ts';
import { PREPARE_STATEMENT_LIMITS } from '../../../schemas/verify/prepare.schema.ts';
import type { PrepareStatement } from '../../../schemas/verify/prepare.ts';
import type { SandboxBind } from '../sandbox.ts';
import { findTool, type Tool } from '../toolchains.ts';
import { cacheKey, openPrepareCache, type CacheEntry } from './cache.ts';
import { GO_BUILD_CACHE } from './go-build-cache.ts';
import { make } from './make.ts';
import { planFor } from './plan.ts';
import { copyDirectory, isDirectory, placeModules } from './place.ts';
import { preparedPython } from './python.ts';
import { PREPARED } from './sandboxed-step.ts';
import {
  statementOf,
  type PrepareCall,
  type PrepareContext,
  type PreparedEnvironment,
  type ReadyPlan,
} from './types.ts';

export type Preparation =
  | { readonly kind: 'go'; readonly prepared: PreparedEnvironment }
  | { readonly kind: 'stop'; readonly statement: PrepareStatement };

export async function prepareDependencies(context: PrepareContext, call: PrepareCall): Promise<Preparation> {
  const began = performance.now();
  const { step } = call;
  let statement = statementOf(step, {});
  const since = () => Math.round(performance.now() - began);
  const stop = (change: Partial<PrepareStatement>): Preparation => ({
    kind: 'stop',
    statement: { ...statement, ...change, duration_ms: since() },
  });
  try {
    const plan = await planFor(step, call.files);
    if (plan.kind === 'refused') return stop({ outcome: 'failed', reason: plan.reason });
    if (plan.kind === 'not_needed') {
      const done = { ...statement, outcome: 'not_needed', reason: plan.reason, duration_ms: since() } as const;
      return { kind: 'go', prepared: { statement: done, binds: [], environment: {}, command: null } };
    }
    statement = { ...statement, lockfiles: plan.inputs.slice(0, PREPARE_STATEMENT_LIMITS.lockfiles) };
    const tool = findTool(context.toolchains, step.tool);
    if (tool === null) return stop({ outcome: 'failed', reason: `${step.tool} is not installed` });
    const cache = openPrepareCache(context.prepare.directory, context.prepare.maxBytes);
    const key = await keyOf(context, call, plan, tool);
    const kept = await cache.find(key);
    const made = kept === null ? await make(context, call, { plan, tool, cache, key }) : null;
    statement = { ...statement, cache: kept === null ? 'miss' : 'hit', ...made?.traffic };
    if (made !== null && made.entry === null) return stop(made.ending);
    const entry = kept ?? made?.entry ?? null;
    if (entry === null) return stop({ outcome: 'failed', reason: 'nothing was made' });
    await placeModules(entry.tree, call.work, plan.places, call.cancellation);
    statement = { ...statement, outcome: 'prepared', duration_ms: since() };
    return { kind: 'go', prepared: { statement, ...(await found(context, call, entry)) } };
  } catch (error) {
    if (call.cancellation.aborted) return stop({ outcome: 'cancelled', reason: 'cancelled while it was prepared' });
    return stop({
      outcome: 'failed',
      reason: error instanceof PortcullisError ? error.message : 'something unexpected failed',
    });
  }
}

/** Another tenant, policy, step, toolchain or input is another entry. */
async function keyOf(context: PrepareContext, call: PrepareCall, plan: ReadyPlan, tool: Tool): Promise<ContentDigest> {
  return cacheKey({
    schema: 'portcullis/prepare-key/v1',
    tenant: context.identity.tenant,
    policy: call.action.policy.digest,
    step: call.step,
    inputs: plan.inputs,
    toolchain: await context.toolchainDigest([tool]),
    // Tools write paths into what they make.
    command: tool.command,
  });
}

/** What the command gets of an entry. */
async function found(
  context: PrepareContext,
  call: PrepareCall,
  entry: CacheEntry,
): Promise<Omit<PreparedEnvironment, 'statement'>> {
  const { tool, provides } = call.step;
  const binds: readonly SandboxBind[] = [{ source: entry.data, target: PREPARED, writable: false }];
  const plain = { binds, environment: provides, command: null };
  if (tool === 'go') return { ...plain, ...(await goCache(entry, call)) };
  if (tool !== 'python3') return plain;
  const python = await preparedPython(context.toolchains, entry.data, call.action.argvExecuted);
  return { ...plain, command: python.command, environment: { ...provides, ...python.environment } };
}

/** A copy of the build cache's beginning: go writes into what it reads from. */
async function goCache(
  entry: CacheEntry,
  call: PrepareCall,
): Promise<Pick<PreparedEnvironment, 'binds' | 'environment'>> {
  const binds: readonly SandboxBind[] = [{ source: entry.data, target: PREPARED, writable: false }];
  const source = join(entry.data, GO_BUILD_CACHE);
  if (!(await isDirectory(source))) return { binds, environment: call.step.provides };
  await copyDirectory(source, call.caches, call.cancellation);
  return {
    binds: [...binds, { source: call.caches, target: '/cache/go-build', writable: true }],
    environment: { ...call.step.provides, GOCACHE: '/cache/go-build' },
  };
}
