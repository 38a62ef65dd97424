/** The outermost process of a workspace: `enter.py`, which makes its namespaces and says when it is in them. */
import { spawn, type ChildProcess } from 'node:child_process';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { findOnPath } from '../../activities/executor/toolchain-search.ts';
import { portcullisError } from '../../schemas/errors.ts';

/** How long the set-up may take. */
const START_MS = 20_000;

/**
 * Starts `enter.py`; it waits for its specification. Its environment is empty: nothing of ours may be found in a workspace.
 * `label` stands in its command line, where a person looks. @throws `workspace_start_failed`
 */
export async function spawnEntry(logFile: string | null, label: readonly string[] = []): Promise<ChildProcess> {
  const python = await findOnPath('python3', `/usr/bin:/usr/local/bin:${process.env['PATH'] ?? ''}`);
  if (python === null) throw portcullisError('workspace_start_failed', { reason: 'python3 is not installed' });
  const log = logFile === null ? null : await open(logFile, 'a', 0o600);
  try {
    const script = fileURLToPath(new URL('enter.py', import.meta.url));
    // -E -s -S: no variable and no site package of this machine; -B: no cache beside the modules.
    return spawn(python, ['-E', '-s', '-S', '-B', script, ...label], {
      stdio: ['pipe', 'ignore', log?.fd ?? 'ignore', 'pipe'],
      env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      cwd: '/',
      // A terminal's interrupt goes to its whole group. Whoever launched the workspace ends it in order; it dies with them anyway.
      detached: true,
    });
  } finally {
    await log?.close();
  }
}

/** Resolves once the workspace's first process has entered its namespaces. @throws `workspace_start_failed` */
export async function entered(child: ChildProcess, exited: Promise<number>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const fail = (reason: string) => reject(portcullisError('workspace_start_failed', { reason }));
  const timer = setTimeout(() => fail('its set-up does not end'), START_MS);
  const status = child.stdio[3];
  let text = '';
  if (status instanceof Readable) {
    status.setEncoding('utf8').on('data', (part: string) => {
      text = (text + part).slice(-65_536);
      if (text.includes('"event": "entered"')) resolve(undefined);
      const failed = /\{"event": "failed", "reason": ("(?:[^"\\]|\\.)*")\}/.exec(text);
      if (failed !== null) fail(String(JSON.parse(failed[1] ?? '""')));
    });
  }
  void exited.then((code) => fail(`its first process ended with ${code}`));
  try {
    await promise;
  } finally {
    clearTimeout(timer);
  }
}
