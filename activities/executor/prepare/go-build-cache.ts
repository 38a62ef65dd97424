/**
 * The standard library, compiled once, as the beginning of a build cache: `go test` would compile it anew for each run
 * otherwise. Only Go's own sources are compiled for it, whatever the repository is, so no repository can poison it.
 */
import type { Tool } from '../toolchains.ts';
import type { FreshEntry } from './cache.ts';
import { runSandboxedStep } from './sandboxed-step.ts';
import type { PrepareCall, PrepareContext } from './types.ts';

/** Below the prepared directory; a command gets a copy of it, which it may write. */
export const GO_BUILD_CACHE = 'build';

const MAX_LISTED = 256 * 1024;
const MAX_PACKAGES = 1_000;
/** No dot in the first segment: what has one is somebody's, not Go's. */
const STANDARD = /^[a-z][a-z0-9]*(?:\/[a-z0-9_]+)*$/;

export interface Warming {
  readonly tool: Tool;
  readonly deadline: number;
  readonly cancellation: AbortSignal;
}

/** Best effort: without it a command only takes longer. */
export async function warmGoBuildCache(
  context: PrepareContext,
  call: PrepareCall,
  fresh: FreshEntry,
  { tool, deadline, cancellation }: Warming,
): Promise<void> {
  // As the command will be run, or what it looks for later would be another entry.
  const environment = {
    ...call.action.environment,
    ...call.step.provides,
    GOPROXY: 'off',
    GOFLAGS: '-mod=readonly',
    GOCACHE: `/prepared/${GO_BUILD_CACHE}`,
  };
  const run = (name: string, args: readonly string[], chdir: string, onText: (text: string) => void) =>
    runSandboxedStep(context, call, fresh, {
      name,
      command: [...tool.command, ...args],
      chdir,
      seesCommit: true,
      environment,
      timeoutMs: deadline - performance.now(),
      cancellation,
      onOutput: (stream, bytes) => {
        if (stream === 'stdout') onText(Buffer.from(bytes).toString('latin1'));
      },
    });
  let listed = '';
  // Listing runs nothing of the repository's.
  const format = '{{if .Standard}}{{.ImportPath}}{{end}}';
  await run('list', ['list', '-e', '-deps', '-test', '-f', format, './...'], '/work', (text) => {
    listed = (listed + text).slice(0, MAX_LISTED);
  });
  const names = [...new Set(listed.split('\n'))].filter((name) => STANDARD.test(name)).slice(0, MAX_PACKAGES);
  if (names.length === 0) return;
  // Outside of every module, where a name can only be Go's own.
  await run('build', ['build', ...names], '/home/run', () => {});
}
