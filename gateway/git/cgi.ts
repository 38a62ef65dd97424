/**
 * `git http-backend` as a CGI program: an environment made from nothing, its own process group, killed when the caller goes
 * or its time is up. It serves the control plane's own bare repositories, which no producer can write.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { portcullisError } from '../../schemas/errors.ts';
import { ANSWER_FD, GO, QUESTION_FD, type LastWord } from './last-word.ts';

export interface CgiRequest {
  /** Absolute path of the bare repository, and which of its calls: `/info/refs`. */
  readonly repository: string;
  readonly leaf: string;
  readonly method: 'GET' | 'POST';
  readonly query: string;
  readonly contentType: string;
  /** `version=2` and the like; empty for the old protocol. */
  readonly protocol: string;
  /** Whole, or as it comes in: then its length is not known to git. */
  readonly body: Uint8Array | Readable;
  readonly seconds: number;
  /** Address space that each of git's processes may have; `null`: no bound but the machine's. */
  readonly memoryKib: number | null;
  /** Asked before a ref moves; `null` for a call that moves none. */
  readonly lastWord: LastWord | null;
  /** On top of what every call has: `http.receivepack` and the like. */
  readonly config: readonly (readonly [string, string])[];
}

export interface CgiAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  /** What came with the headers, then the rest; ends when git does. */
  readonly head: Buffer;
  readonly rest: NodeJS.ReadableStream;
  /** True once git has ended with 0; false for any other end. */
  readonly ended: Promise<boolean>;
  /** Once git has the whole body, or has ended before; rejects with what the body failed with. */
  readonly fed: Promise<void>;
  kill(): void;
}

const MAX_HEAD_BYTES = 16 * 1024;
const KILL_AFTER_MS = 1_000;

/** Starts git and reads the head of its answer. @throws `internal` when it says nothing that is HTTP */
export async function runGitBackend(request: CgiRequest): Promise<CgiAnswer> {
  const { memoryKib } = request;
  const limit = memoryKib === null ? '' : `ulimit -v ${memoryKib} && `;
  const child = spawn('/bin/sh', ['-c', `${limit}exec git http-backend`], {
    detached: true,
    // The last two are the hook's, which is two processes further down and inherits them.
    stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
    env: environment(request),
    cwd: '/',
  });
  const kill = () => killGroup(child);
  const late = setTimeout(kill, request.seconds * 1000);
  const ended = new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
  void ended.then(() => clearTimeout(late));
  const fed = feed(child, request.body);
  fed.catch(kill);
  child.stderr.resume();
  answerHook(child, request.lastWord);
  try {
    return { ...(await readHead(child)), rest: child.stdout, ended, fed, kill };
  } catch (thrown) {
    kill();
    // A body that failed says more than git, which was ended for it.
    await fed;
    throw thrown;
  }
}

/** Once: without an answer, whatever the reason, the hook refuses. */
function answerHook(child: ChildProcessWithoutNullStreams, lastWord: LastWord | null): void {
  const [answers, questions] = [child.stdio[ANSWER_FD], child.stdio[QUESTION_FD]];
  if (!(answers instanceof Writable) || !(questions instanceof Readable)) return;
  for (const stream of [answers, questions]) stream.on('error', () => {});
  if (lastWord === null) {
    answers.end();
    questions.resume();
    return;
  }
  questions.once('data', () => {
    lastWord.ask().then(
      (reason) => answers.end(`${reason === null ? GO : oneLine(reason)}\n`),
      () => answers.end(),
    );
  });
}

function oneLine(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, ' ').slice(0, 300);
}

/** git may end before it has read everything; how it ended is what counts. What the body fails with is passed on. */
async function feed(child: ChildProcessWithoutNullStreams, body: Uint8Array | Readable): Promise<void> {
  child.stdin.on('error', () => {});
  if (body instanceof Uint8Array) {
    child.stdin.end(body);
    return;
  }
  await pipeline(body, child.stdin).catch((thrown: unknown) => {
    const fault = body.errored;
    if (fault !== null && !(fault instanceof Error && 'code' in fault && fault.code === 'EPIPE')) throw thrown;
  });
}

function environment(request: CgiRequest): NodeJS.ProcessEnv {
  const config: readonly (readonly [string, string])[] = [
    ['http.uploadarchive', 'false'],
    // The control worker that made it may run under another uid.
    ['safe.directory', request.repository],
    ['core.hooksPath', request.lastWord?.hooks ?? '/dev/null'],
    ...request.config,
  ];
  return {
    PATH: process.env['PATH'],
    HOME: '/nonexistent',
    LANG: 'C.UTF-8',
    GIT_PROJECT_ROOT: dirname(request.repository),
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_COUNT: String(config.length),
    ...Object.fromEntries(
      config.flatMap(([key, value], n) => [
        [`GIT_CONFIG_KEY_${n}`, key],
        [`GIT_CONFIG_VALUE_${n}`, value],
      ]),
    ),
    ...(request.protocol === '' ? {} : { GIT_PROTOCOL: request.protocol }),
    PATH_INFO: `/${basename(request.repository)}${request.leaf}`,
    REQUEST_METHOD: request.method,
    QUERY_STRING: request.query,
    CONTENT_TYPE: request.contentType,
    // Empty: git reads to the end.
    CONTENT_LENGTH: request.body instanceof Uint8Array ? String(request.body.length) : '',
    REMOTE_ADDR: '127.0.0.1',
  };
}

/** The whole group: http-backend and what it started. Asked first, since whoever unpacks a push removes what it had so far. */
function killGroup(child: ChildProcessWithoutNullStreams): void {
  signalGroup(child, 'SIGTERM');
  setTimeout(() => signalGroup(child, 'SIGKILL'), KILL_AFTER_MS).unref();
}

function signalGroup(child: ChildProcessWithoutNullStreams, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, signal);
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')) throw thrown;
  }
}

async function readHead(
  child: ChildProcessWithoutNullStreams,
): Promise<Pick<CgiAnswer, 'status' | 'headers' | 'head'>> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  let seen: Buffer = Buffer.alloc(0);
  const onReadable = () => {
    const part: unknown = child.stdout.read();
    if (!Buffer.isBuffer(part)) return;
    seen = Buffer.concat([seen, part]);
    if (seen.includes('\r\n\r\n')) resolve(seen);
    else if (seen.length > MAX_HEAD_BYTES) reject(portcullisError('internal'));
  };
  child.stdout.on('readable', onReadable);
  child.stdout.once('end', () => reject(portcullisError('internal')));
  child.once('error', (error) => reject(portcullisError('internal', {}, error)));
  const whole = await promise;
  child.stdout.off('readable', onReadable);
  const end = whole.indexOf('\r\n\r\n');
  const headers = whole
    .subarray(0, end)
    .toString('latin1')
    .split('\r\n')
    .map((line): readonly [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    });
  const status = headers.find(([name]) => name.toLowerCase() === 'status')?.[1] ?? '200';
  return {
    status: Number.parseInt(status, 10),
    headers: headers.filter(([name]) => name.toLowerCase() !== 'status'),
    head: whole.subarray(end + 4),
  };
}
