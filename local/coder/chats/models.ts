/** Providers and models of chats, and the settings pages around them, as far as they were recorded. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { LocalCoderContext } from '../context.ts';
import { forbidden, notFound, refuse } from '../http/refusal.ts';
import { bodyId, pathId, readBody } from '../http/request.ts';
import { created, ok, type Route } from '../http/route.ts';
import type { ModelConfig, Provider } from '../state/records.ts';

const newProvider = z.object({
  type: z.string(),
  name: z.string(),
  display_name: z.string().default(''),
  base_url: z.string().default(''),
  enabled: z.boolean().default(true),
  api_keys: z.array(z.string()).default([]),
});
const newModel = z.object({
  ai_provider_id: bodyId,
  model: z.string(),
  display_name: z.string().default(''),
  enabled: z.boolean().default(true),
  is_default: z.boolean().default(false),
  context_limit: z.int(),
});

export function addProvider({ state, clock }: LocalCoderContext, asked: z.infer<typeof newProvider>): Provider {
  const at = clock.iso();
  return state.providers.put({
    id: randomUUID(),
    type: asked.type,
    name: asked.name,
    displayName: asked.display_name,
    baseUrl: asked.base_url,
    keys: asked.api_keys.map((key) => ({
      id: randomUUID(),
      masked: `${key.slice(0, 2)}...${key.slice(-2)}`,
      createdAt: at,
    })),
    enabled: asked.enabled,
    keysRefused: false,
    createdAt: at,
    updatedAt: at,
  });
}

/** A new default takes the place of the old one. */
export function addModel({ state, clock }: LocalCoderContext, asked: z.infer<typeof newModel>): ModelConfig {
  const at = clock.iso();
  if (asked.is_default) {
    for (const model of state.models.all()) {
      if (model.isDefault) state.models.put({ ...model, isDefault: false, updatedAt: at });
    }
  }
  return state.models.put({
    id: randomUUID(),
    providerId: asked.ai_provider_id,
    model: asked.model,
    displayName: asked.display_name,
    enabled: asked.enabled,
    isDefault: asked.is_default,
    contextLimit: asked.context_limit,
    createdAt: at,
    updatedAt: at,
  });
}

export function modelRoutes(coder: LocalCoderContext): readonly Route[] {
  const { state } = coder;
  const chats = '/api/experimental/chats';
  return [
    {
      method: 'POST',
      path: '/api/v2/ai/providers',
      work: (request, asker) => {
        if (!asker.isOwner) throw forbidden();
        return created(providerView(addProvider(coder, readBody(request, newProvider))));
      },
    },
    {
      method: 'PATCH',
      path: '/api/v2/ai/providers/:provider',
      work: (request, asker) => {
        if (!asker.isOwner) throw forbidden();
        const provider = state.providers.get(pathId(request, 'provider'));
        if (provider === undefined) throw notFound();
        // Any update lets its keys back in.
        return ok(providerView(state.providers.put({ ...provider, keysRefused: false, updatedAt: coder.clock.iso() })));
      },
    },
    {
      method: 'GET',
      path: `${chats}/models`,
      work: () =>
        ok({ providers: state.providers.all().map((one) => modelsOf(coder, one)), unsupported_providers: [] }),
    },
    { method: 'GET', path: `${chats}/model-configs`, work: () => ok(state.models.all().map(modelView)) },
    {
      method: 'POST',
      path: `${chats}/model-configs`,
      work: (request, asker) => {
        if (!asker.isOwner) throw forbidden();
        return created(modelView(addModel(coder, readBody(request, newModel))));
      },
    },
    { method: 'GET', path: `${chats}/config/workspace-ttl`, work: () => ok({ workspace_ttl_ms: 0 }) },
    { method: 'GET', path: `${chats}/config/auto-archive-days`, work: () => ok({ auto_archive_days: 0 }) },
    {
      method: 'GET',
      path: `${chats}/providers`,
      work: () => {
        const detail = 'See https://coder.com/docs/ai-coder/agents/models#providers for AI provider configuration.';
        throw refuse(410, 'Legacy chat provider APIs were removed. Use AI provider APIs instead.', detail);
      },
    },
    { method: 'GET', path: '/api/v2/tasks', work: () => ok({ tasks: [], count: 0 }) },
  ];
}

function modelsOf({ state }: LocalCoderContext, { id, type, enabled }: Provider) {
  const models = state.models.all().filter(({ providerId }) => providerId === id);
  return {
    provider: type,
    available: enabled,
    models: models.map(({ model, displayName }) => ({
      id: `${type}:${model}`,
      provider: type,
      model,
      display_name: displayName,
    })),
  };
}

function providerView(provider: Provider) {
  return {
    id: provider.id,
    type: provider.type,
    name: provider.name,
    display_name: provider.displayName,
    icon: '',
    enabled: provider.enabled,
    base_url: provider.baseUrl,
    api_keys: provider.keys.map(({ id, masked, createdAt }) => ({ id, masked, created_at: createdAt })),
    settings: null,
    created_at: provider.createdAt,
    updated_at: provider.updatedAt,
  };
}

function modelView(model: ModelConfig) {
  return {
    id: model.id,
    ai_provider_id: model.providerId,
    model: model.model,
    display_name: model.displayName,
    enabled: model.enabled,
    is_default: model.isDefault,
    context_limit: model.contextLimit,
    compression_threshold: 70,
    created_at: model.createdAt,
    updated_at: model.updatedAt,
  };
}
