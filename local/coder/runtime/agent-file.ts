/**
 * An agent's command of one's own, from a JSON file: any CLI that reads a prompt and works in the directory it is started in.
 *
 * @example {"schema":"portcullis/agent-command/v1","argv":["my-agent","{prompt}"],"environment":{"OPENAI_BASE_URL":"{model}/v1"}}
 */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { PortcullisError, portcullisError } from '../../../schemas/errors.ts';
import { readStrictJson } from '../../../schemas/strict-json.ts';
import { readOnly } from '../../workspace/program.ts';
import type { AgentCommand } from './settings.ts';

const words = z.array(z.string().min(1).max(8_192)).min(1).max(256);
const path = z.string().regex(/^\/[^\0]{0,4095}$/);
/** Nothing of the machine or of us may be covered by what an operator shows. */
const target = z.string().regex(/^\/opt\/agent(?:\/[A-Za-z0-9._-]*[A-Za-z0-9_-])*$/, 'must be /opt/agent or below it');

const commandDocument = z.strictObject({
  schema: z.literal('portcullis/agent-command/v1'),
  argv: words,
  resume: words.nullable().default(null),
  environment: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/), z.string().max(32_768)).default({}),
  mounts: z
    .array(z.strictObject({ source: path, target }))
    .max(16)
    .default([]),
  timeout_secs: z.int().min(1).max(86_400).default(3_600),
});

/** @throws `setting_invalid` */
export async function readAgentFile(file: string): Promise<AgentCommand> {
  let document: unknown;
  try {
    document = readStrictJson(await readFile(file));
  } catch (error) {
    throw unusable(file, error instanceof PortcullisError ? error.message : 'cannot be read', error);
  }
  const parsed = commandDocument.safeParse(document);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw unusable(file, `${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is no agent command'}`.trim());
  }
  const { argv, resume, environment, mounts, timeout_secs: timeoutSecs } = parsed.data;
  return { argv, resume, environment, mounts: mounts.map((one) => readOnly(one.source, one.target)), timeoutSecs };
}

function unusable(file: string, reason: string, cause?: unknown): PortcullisError {
  return portcullisError('setting_invalid', { name: `agent command ${file}`, reason }, cause);
}
