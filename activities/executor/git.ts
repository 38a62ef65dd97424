/**
 * Git as the executor runs it: on its own bare repository only, with a configuration that nothing of the repository under
 * test can reach. The bearer travels in the environment, never in an argv.
 */
import { spawn } from 'node:child_process';

export interface Git {
  readonly program: string;
  /** HOME of git: the executor's private directory. */
  readonly home: string;
}

export interface GitCall {
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Settings for this call alone. */
  readonly config?: Readonly<Record<string, string>>;
  readonly cancellation: AbortSignal;
  readonly timeoutMs: number;
}

/** A git command that did not end with 0. `message` holds the end of its stderr. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure';
}

/** No hook, no helper, no prompt, no protocol but HTTP, every object checked on its way in. */
const FIXED_CONFIG = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.attributesFile': '/dev/null',
  'core.excludesFile': '/dev/null',
  'credential.helper': '',
  'protocol.allow': 'never',
  'protocol.http.allow': 'always',
  'protocol.version': '2',
  'http.followRedirects': 'false',
  'http.lowSpeedLimit': '1',
  'http.lowSpeedTime': '60',
  'fetch.fsckObjects': 'true',
  'transfer.fsckObjects': 'true',
  'submodule.recurse': 'false',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'advice.detachedHead': 'false',
} as const;

const MAX_STDOUT = 64 * 1024 * 1024;
const MAX_STDERR = 4096;

/** Runs git and answers its stdout. @throws {@link GitFailure} */
export function runGit(git: Git, call: GitCall): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(git.program, [...call.args], {
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that its helpers end with it.
      detached: true,
      env: environmentOf(git, call),
    });
    const parts: Buffer[] = [];
    let bytes = 0;
    let said = '';
    const stop = (): void => {
      if (child.pid !== undefined) killGroup(child.pid);
    };
    const timer = setTimeout(stop, call.timeoutMs);
    call.cancellation.addEventListener('abort', stop, { once: true });
    if (call.cancellation.aborted) stop();
    child.stdout.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes <= MAX_STDOUT) parts.push(part);
      else stop();
    });
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      said = (said + part).slice(-MAX_STDERR);
    });
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(new GitFailure(error.message));
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      call.cancellation.removeEventListener('abort', stop);
      if (bytes > MAX_STDOUT) reject(new GitFailure(`git said more than ${MAX_STDOUT} bytes`));
      else if (code === 0) resolve(Buffer.concat(parts, bytes));
      else reject(new GitFailure(said.trim() === '' ? `git ended with ${code ?? 'a signal'}` : said.trim()));
    });
  });
}

function environmentOf(git: Git, call: GitCall): Record<string, string> {
  const config = Object.entries({ ...FIXED_CONFIG, ...call.config });
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: git.home,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: String(config.length),
    ...Object.fromEntries(
      config.flatMap(([name, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, name],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
    ...call.environment,
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
