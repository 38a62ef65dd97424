/** The shape of `policies/workspaces/registry.json`, checked at the edge: strict, so an unknown key is refused. */
import { z } from 'zod';
import { AGENT_ENGINES, WORKSPACE_SPANS, type WorkspaceRegistry, type WorkspaceTemplate } from './registry.ts';

const seconds = z.int().min(60).max(2_592_000);
const named = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$/);

const agent = z
  .strictObject({
    template: z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/),
    engine: z.enum(AGENT_ENGINES),
    coder_module: named.nullable(),
    model: named.nullable(),
    max_workers: z.int().min(1).max(1_000),
    ttl_seconds: seconds,
    max_ttl_seconds: seconds,
    read_only: z.boolean(),
    per: z.enum(WORKSPACE_SPANS),
    executor: z.boolean(),
    overrides: z.strictObject({
      ttl_seconds: z.strictObject({ min: seconds, max: seconds }).nullable(),
      models: z.array(named),
    }),
  })
  .transform((document): WorkspaceTemplate => ({
    template: document.template,
    engine: document.engine,
    coderModule: document.coder_module,
    model: document.model,
    maxWorkers: document.max_workers,
    ttlSeconds: document.ttl_seconds,
    maxTtlSeconds: document.max_ttl_seconds,
    readOnly: document.read_only,
    per: document.per,
    executor: document.executor,
    overrides: { ttlSeconds: document.overrides.ttl_seconds, models: document.overrides.models },
  }));

export const workspaceRegistryDocument = z
  .strictObject({
    schema: z.literal('portcullis/workspace-registry/v1'),
    revision: z.int().min(1),
    agents: z.strictObject({ forge: agent, sentinel: agent, verifier: agent, lore: agent }),
  })
  .transform((document): WorkspaceRegistry => document);
