/** One command of a preparation in its sandbox: the registries' socket on its own loopback, and no other way out. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EGRESS_PORT } from '../../../schemas/egress.ts';
import { runContained, type ContainedEnding } from '../contained-run.ts';
import { limitedCommand, sandboxOptions, type SandboxBind } from '../sandbox.ts';
import type { FreshEntry } from './cache.ts';
import type { PrepareCall, PrepareContext } from './types.ts';

/** Where a command of the policy finds what was prepared for it. */
export const PREPARED = '/prepared';

/** Where the sandbox's Node sees the forwarder and the socket. */
const INSIDE_NODE = '/opt/portcullis/prepare/node';
const INSIDE = '/opt/portcullis/prepare/inside.mjs';
const INSIDE_SOCKET = '/opt/portcullis/prepare/registries';

export interface SandboxedStep {
  /** Unique in its preparation. */
  readonly name: string;
  /** With the tool's own command, as the sandbox sees it. */
  readonly command: readonly string[];
  readonly chdir: string;
  /** The commit's tree is shown read-only at `/work`; otherwise only what was planned is there. */
  readonly seesCommit: boolean;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly cancellation: AbortSignal;
  readonly onOutput: Parameters<typeof runContained>[0]['onOutput'];
}

export async function runSandboxedStep(
  context: PrepareContext,
  call: PrepareCall,
  fresh: FreshEntry,
  step: SandboxedStep,
): Promise<ContainedEnding> {
  const pipes = join(fresh.pipes, step.name);
  await mkdir(pipes, { mode: 0o700 });
  const layout = {
    work: fresh.tree,
    chdir: step.chdir,
    report: fresh.report,
    etc: context.etc,
    toolDirectory: context.toolDirectory,
    toolchains: context.toolchains.mounts,
    reporter: context.reporter,
    system: context.probe.system,
    binds: bindsOf(call, fresh, step.seesCommit),
  };
  return runContained({
    bwrap: context.probe.bwrap,
    mkfifo: context.probe.mkfifo,
    options: sandboxOptions(layout, call.action.limits, { ...context.prepare.environment, ...step.environment }),
    command: limitedCommand(call.action.limits, context.probe.prlimit, [
      ...[INSIDE_NODE, INSIDE, INSIDE_SOCKET, String(EGRESS_PORT)],
      ...step.command,
    ]),
    directory: pipes,
    timeoutMs: Math.max(1, step.timeoutMs),
    graceMs: context.graceMs,
    cancellation: step.cancellation,
    onOutput: step.onOutput,
  });
}

function bindsOf({ work }: PrepareCall, fresh: FreshEntry, seesCommit: boolean): readonly SandboxBind[] {
  const shown = (source: string, target: string, writable = false): SandboxBind => ({ source, target, writable });
  return [
    ...(seesCommit ? [shown(work, '/work')] : []),
    shown(fresh.data, PREPARED, true),
    shown(fresh.scratch, '/scratch', true),
    shown(process.execPath, INSIDE_NODE),
    shown(fileURLToPath(new URL('inside.mjs', import.meta.url)), INSIDE),
    shown(fresh.socket, INSIDE_SOCKET),
  ];
}
