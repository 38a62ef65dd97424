/** What the harness of a workspace is told at its start: one JSON file, named on its command line. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { PortcullisError, portcullisError } from '../../schemas/errors.ts';
import { COMMIT_PATTERN, NAME_PATTERN } from '../../schemas/names.ts';
import { readStrictJson } from '../../schemas/strict-json.ts';
import { WORKSPACE_ROLES, type WorkspaceRole } from '../../schemas/workspace/workflow.ts';

export interface HarnessSettings {
  readonly tenant: string;
  readonly role: WorkspaceRole;
  /** The gateway's unix socket: the only way out. */
  readonly gatewaySocket: string;
  /** Directory of the harness, mode 0700: bearer, git configuration, the agent's commands. */
  readonly privateDirectory: string;
  /** Home of the agent: what its CLI keeps. */
  readonly home: string;
  /** Holds the agent's claim code; `null` for a role without an agent, and when the grant is there already. */
  readonly claimCodeFile: string | null;
  /** `null` for a role that works on no checkout (the executor fetches for itself). */
  readonly checkout: {
    readonly directory: string;
    readonly head: string;
    /** The branch that the agent pushes; `null`: it only reads, and the head is detached. */
    readonly branch: string | null;
  } | null;
  /** Settings file and private directory of the executor; `null` for a role without one. */
  readonly executor: { readonly settingsFile: string; readonly privateDirectory: string } | null;
  /** For trying what a start that goes wrong does. With an exit code, nothing is started but that is what came of it. */
  readonly start: { readonly delayMs: number; readonly exitCode: number | null };
}

const path = z.string().startsWith('/').max(4096);

const settingsDocument = z.strictObject({
  tenant: z.string().regex(NAME_PATTERN),
  role: z.enum(WORKSPACE_ROLES),
  gatewaySocket: path,
  privateDirectory: path,
  home: path,
  claimCodeFile: path.nullable(),
  checkout: z
    .strictObject({
      directory: path,
      head: z.string().regex(COMMIT_PATTERN),
      branch: z.string().min(1).max(255).nullable(),
    })
    .nullable(),
  executor: z.strictObject({ settingsFile: path, privateDirectory: path }).nullable(),
  start: z.strictObject({ delayMs: z.int().min(0), exitCode: z.int().min(0).max(255).nullable() }),
}) satisfies z.ZodType<HarnessSettings>;

/** @throws `setting_invalid` */
export async function readHarnessSettings(file: string): Promise<HarnessSettings> {
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
  return portcullisError('setting_invalid', { name: `harness settings ${file}`, reason }, cause);
}
