/** The executor beside the harness: a process of its own, started again when it ends, unless its credential is refused. */
import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readLines } from './lines.ts';

/** What the executor ends with when starting it again is of no use (workers/executor/main.ts). */
const REFUSED = 7;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
/** An executor that ran this long was all right: the next pause is the first again. */
const STEADY_MS = 60_000;

export interface ExecutorProcess {
  /** Resolves when it serves. Never rejects: see `refused`. */
  readonly serving: Promise<undefined>;
  /** Resolves when its credential is refused for good: the workspace has nothing left to do then. */
  readonly refused: Promise<undefined>;
  close(): void;
}

export function startExecutorProcess(settingsFile: string, log: (text: string) => void): ExecutorProcess {
  const serving = Promise.withResolvers<undefined>();
  const refused = Promise.withResolvers<undefined>();
  const closing = new AbortController();
  let child: ChildProcess | null = null;

  async function keepRunning(): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; !closing.signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const startedAt = performance.now();
      const code = await runOnce();
      log(`executor ended with ${code ?? 'a signal'}`);
      if (code === REFUSED) {
        refused.resolve(undefined);
        return;
      }
      if (performance.now() - startedAt > STEADY_MS) pause = FIRST_PAUSE_MS;
      await delay(pause, undefined, { signal: closing.signal }).catch(() => {});
    }
  }

  function runOnce(): Promise<number | null> {
    return new Promise((resolve) => {
      const program = fileURLToPath(import.meta.resolve(`../executor/main${suffix()}`));
      const started = spawn(process.execPath, [program, settingsFile], { stdio: ['ignore', 'ignore', 'pipe'] });
      child = started;
      readLines(started.stderr, (line) => {
        log(line);
        if (line.includes('executor: serving')) serving.resolve(undefined);
      });
      started.once('error', () => resolve(null));
      started.once('exit', (code) => resolve(code));
    });
  }

  void keepRunning();
  return {
    serving: serving.promise,
    refused: refused.promise,
    close: () => {
      closing.abort();
      child?.kill('SIGTERM');
    },
  };
}

/** `.ts` in a clone, `.js` in an installed package. */
function suffix(): string {
  return import.meta.filename.endsWith('.ts') ? '.ts' : '.js';
}
