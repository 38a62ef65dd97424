/** Makes what a plan says, in the sandbox of a preparation, and keeps it when it ended well. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ContentDigest } from '../../../schemas/digest.ts';
import type { PrepareStatement, PrepareStep } from '../../../schemas/verify/prepare.ts';
import type { ContainedEnding } from '../contained-run.ts';
import type { Tool } from '../toolchains.ts';
import type { CacheEntry, FreshEntry, PrepareCache } from './cache.ts';
import { warmGoBuildCache } from './go-build-cache.ts';
import { openRegistrySocket, type RegistrySocket } from './registry-socket.ts';
import { runSandboxedStep } from './sandboxed-step.ts';
import { sizeOf, watchSize } from './size-watch.ts';
import { createTail, type Tail } from './tail.ts';
import type { PrepareCall, PrepareContext, ReadyPlan } from './types.ts';

/** Characters of what a tool said last. */
const MAX_SAID = 280;

export interface Making {
  readonly plan: ReadyPlan;
  readonly tool: Tool;
  readonly cache: PrepareCache;
  readonly key: ContentDigest;
}

export interface Made {
  readonly entry: CacheEntry | null;
  readonly ending: Pick<PrepareStatement, 'outcome' | 'reason'>;
  readonly traffic: Pick<PrepareStatement, 'requests' | 'refused' | 'bytes'>;
}

export async function make(context: PrepareContext, call: PrepareCall, making: Making): Promise<Made> {
  const { step } = call;
  const fresh = await making.cache.make();
  const { gatewaySocket, bearer } = context.prepare;
  const socket = await openRegistrySocket({
    path: fresh.socket,
    gatewaySocket,
    bearer,
    registries: step.registries,
    maxBytes: step.maxBytes,
  });
  try {
    await writeFiles(fresh.tree, making.plan.files);
    await writeFiles(fresh.data, making.plan.settings);
    const ending = await runCommands(context, call, making, fresh, socket);
    const { requests, refused, bytes } = socket.traffic();
    const traffic = { requests, refused, bytes };
    if (ending.outcome !== 'prepared') return { entry: null, ending, traffic };
    await socket.close();
    const entry = await making.cache.publish(fresh, making.key, await sizeOf(fresh.path));
    return { entry, ending, traffic };
  } finally {
    await socket.close();
    await making.cache.discard(fresh);
  }
}

async function runCommands(
  context: PrepareContext,
  call: PrepareCall,
  { plan, tool }: Making,
  fresh: FreshEntry,
  socket: RegistrySocket,
): Promise<Made['ending']> {
  const { step } = call;
  const watch = watchSize(fresh.path, step.maxBytes);
  const deadline = performance.now() + step.timeoutSecs * 1000;
  const cancellation = AbortSignal.any([call.cancellation, watch.exceeded]);
  const tail = createTail();
  try {
    for (const [index, command] of step.commands.entries()) {
      const ending = await runSandboxedStep(context, call, fresh, {
        name: String(index),
        command: [...tool.command, ...command.slice(1)],
        chdir: plan.chdir,
        seesCommit: plan.sees === 'commit',
        environment: step.environment,
        timeoutMs: deadline - performance.now(),
        cancellation,
        onOutput: (_, bytes) => tail.write(bytes),
      });
      if (ending.outcome === 'exited' && ending.exitCode === 0) continue;
      return endingOf(ending, command, tail, { socket, tooLarge: watch.exceeded.aborted, step });
    }
    if (step.tool === 'go') await warmGoBuildCache(context, call, fresh, { tool, deadline, cancellation });
  } finally {
    // The last look is after the last byte.
    await watch.end();
  }
  call.cancellation.throwIfAborted();
  return watch.exceeded.aborted ? { outcome: 'failed', reason: tooLarge(step) } : { outcome: 'prepared', reason: '' };
}

function endingOf(
  ending: ContainedEnding,
  command: readonly string[],
  tail: Tail,
  facts: { readonly socket: RegistrySocket; readonly tooLarge: boolean; readonly step: PrepareStep },
): Made['ending'] {
  const name = command.slice(0, 3).join(' ');
  if (facts.tooLarge) return { outcome: 'failed', reason: tooLarge(facts.step) };
  if (ending.outcome === 'cancelled') return { outcome: 'cancelled', reason: 'cancelled while it was prepared' };
  if (ending.outcome === 'timed_out') {
    return { outcome: 'timed_out', reason: `${name} did not end within ${facts.step.timeoutSecs} s` };
  }
  const { firstRefusal } = facts.socket.traffic();
  const how = ending.outcome === 'exited' ? `ended with ${ending.exitCode ?? 'a signal'}` : ending.reason;
  const refusal = firstRefusal === '' ? '' : `; refused: ${firstRefusal}`;
  return { outcome: 'failed', reason: `${name} ${how}${refusal}: ${tail.text().slice(-MAX_SAID)}` };
}

function tooLarge({ maxBytes }: PrepareStep): string {
  return `more than ${maxBytes} bytes were written`;
}

async function writeFiles(
  root: string,
  files: readonly { readonly path: string; readonly text: string }[],
): Promise<void> {
  for (const { path, text } of files) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}
