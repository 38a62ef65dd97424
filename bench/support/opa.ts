/** OPA as a peer: builds `bench/opa` with Go, keeps one process of it, and asks it to evaluate the inputs we evaluate. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { portcullisError } from '../../schemas/errors.ts';
import { progress } from './progress.ts';

const answerSchema = z.object({
  version: z.string(),
  evaluation: z.object({
    decision: z.string(),
    reasons: z.array(z.object({ code: z.string(), ref: z.string(), overridden: z.boolean() })),
  }),
  /** Milliseconds of each evaluation: by the clock, and of processor time with garbage collection. */
  wall: z.array(z.number()),
  processor: z.array(z.number()),
});
export type OpaAnswer = z.infer<typeof answerSchema>;

export interface Opa {
  /** Evaluates this input so many times, one after the other. An input is parsed once, when it is first named. */
  evaluate(name: string, evaluations: number): Promise<OpaAnswer>;
  /** Makes an input known under a name. */
  give(name: string, input: unknown): Promise<void>;
  close(): Promise<void>;
}

const SOURCE = fileURLToPath(new URL('../opa/', import.meta.url));

/** @param data what the policy reads as `data`. @throws `binary_missing` without Go on the path */
export async function startOpa(data: unknown): Promise<Opa> {
  const directory = await mkdtemp(join(tmpdir(), 'portcullis-opa-'));
  try {
    const binary = join(directory, 'opa');
    progress('building OPA with Go (its first build downloads modules)');
    await build(binary);
    await writeFile(join(directory, 'data.json'), JSON.stringify(data));
    const child = spawn(binary, [join(SOURCE, 'merge.rego'), join(directory, 'data.json')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return {
      give: (name, input) => writeFile(join(directory, `${name}.json`), JSON.stringify(input)),
      async evaluate(name, evaluations) {
        child.stdin.write(`${JSON.stringify({ input: join(directory, `${name}.json`), evaluations })}\n`);
        const line = await lines.next();
        if (line.done === true) throw new Error('OPA ended before it answered; its error is above');
        return answerSchema.parse(JSON.parse(line.value));
      },
      async close() {
        await ended(child);
        await rm(directory, { recursive: true });
      },
    };
  } catch (error) {
    await rm(directory, { recursive: true });
    throw error;
  }
}

async function build(binary: string): Promise<void> {
  try {
    await promisify(execFile)('go', ['build', '-buildvcs=false', '-o', binary, '.'], { cwd: SOURCE });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      throw portcullisError(
        'binary_missing',
        { program: 'go', how: 'Install Go 1.26 or newer; it builds OPA.' },
        error,
      );
    }
    throw error;
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.stdin?.end();
  await exit;
}
