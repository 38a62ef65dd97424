/** What an executor process is told at its start: one JSON file, named on its command line. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { PortcullisError, portcullisError } from '../../schemas/errors.ts';
import { NAME_PATTERN } from '../../schemas/names.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import type { Toolchains } from '../../activities/executor/toolchains.ts';

export interface ExecutorSettings {
  readonly tenant: string;
  /** The gateway's unix socket: the only way out of a workspace. */
  readonly gatewaySocket: string;
  /** Directory of the executor alone, mode 0700: bearer, bare repositories, runs. */
  readonly privateDirectory: string;
  /** Holds the single-use claim code; removed once it is exchanged. Not needed when the bearer is there already. */
  readonly claimCodeFile: string | null;
  /** Directory of the command policy's documents; `null` for those that come with the program. */
  readonly policyDirectory: string | null;
  /** `null`: look for them behind the PATH. */
  readonly toolchains: Toolchains | null;
  /** The producer's live tree, for `cwd: worktree`; `null` where no producer works. */
  readonly worktree: string | null;
}

const path = z.string().startsWith('/').max(4096);

const settingsDocument = z.strictObject({
  tenant: z.string().regex(NAME_PATTERN),
  gatewaySocket: path,
  privateDirectory: path,
  claimCodeFile: path.nullable(),
  policyDirectory: path.nullable(),
  toolchains: z
    .strictObject({
      mounts: z.array(z.strictObject({ source: path, target: path })),
      tools: z.array(z.strictObject({ name: z.string(), command: z.array(z.string()), files: z.array(path) })),
    })
    .nullable(),
  worktree: path.nullable(),
}) satisfies z.ZodType<ExecutorSettings>;

/** @throws `setting_invalid` */
export async function readExecutorSettings(file: string): Promise<ExecutorSettings> {
  let document: unknown;
  try {
    document = readStrictJson(await readFile(file));
  } catch (error) {
    throw unusable(file, error instanceof PortcullisError ? error.message : 'cannot be read', error);
  }
  const parsed = settingsDocument.safeParse(document);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw unusable(file, `${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim());
}

function unusable(file: string, reason: string, cause?: unknown): PortcullisError {
  return portcullisError('setting_invalid', { name: `executor settings ${file}`, reason }, cause);
}
