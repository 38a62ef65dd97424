/**
 * What happened between two recorded exchanges without being recorded: waiting for a build to end or an agent to be ready, a
 * model that was set up, a fault that was mended. And requests that name a moment or an id, made fit for now.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Exchange, keyOf } from './fixture.ts';
import { at, isObject } from './observe.ts';
import type { Stand } from './stand.ts';
import { recordedTemplate } from './world.ts';

const DEADLINE_MS = 6_000;
const MINUTE_MS = 60_000;

export async function before(stand: Stand, exchange: Exchange): Promise<void> {
  const { world } = stand;
  const workspaceId = /\/workspaces\/([0-9a-f-]{36})\/builds$/.exec(world.live(exchange.path))?.[1];
  const isFirstOfRace = !exchange.label.startsWith('concurrent') || exchange.status === 201;
  if (workspaceId !== undefined && exchange.status === 201 && isFirstOfRace && exchange.method === 'POST') {
    await until(stand, `/api/v2/workspaces/${workspaceId}?include_deleted=true`, isIdle);
  }
  const model = at(exchange.sent, 'model_config_id');
  if (typeof model === 'string' && exchange.status === 201 && !world.knows(model)) await addModel(stand, model);
  await unrecorded(stand, exchange);
}

/** What was done at this place and not recorded. */
export async function unrecorded(stand: Stand, entry: { readonly file: string; readonly at: number }): Promise<void> {
  await UNRECORDED[keyOf(entry)]?.(stand);
}

export const isIdle = (body: unknown) =>
  ['succeeded', 'failed', 'canceled'].includes(String(at(body, 'latest_build.job.status')));
const isConnected = (body: unknown) => at(body, 'latest_build.resources.0.agents.0.status') === 'connected';
const isReady = (body: unknown) => at(body, 'latest_build.resources.0.agents.0.lifecycle_state') === 'ready';
const isRunning = (body: unknown) => at(body, 'latest_build.job.status') === 'running';
const chatIsIdle = (body: unknown) => ['waiting', 'error'].includes(String(at(body, 'status')));

const workspace = (stand: Stand, holds: (body: unknown) => boolean) =>
  until(stand, `/api/v2/workspaces/${stand.workspaceId}?include_deleted=true`, holds);
const chat = (stand: Stand) => until(stand, `/api/experimental/chats/${stand.chatId}`, chatIsIdle);

/** Builds or agents that stay where they are, so that what lies between can be looked at whatever this machine does. */
const hold =
  (...what: readonly ('builds' | 'agents')[]) =>
  (stand: Stand) => {
    for (const one of what) stand.world.runtime.hold(one);
    return Promise.resolve();
  };
const letGo = (stand: Stand) => {
  stand.world.runtime.letGo();
  return Promise.resolve();
};

/** By place in the recording. */
const UNRECORDED: Readonly<Record<string, (stand: Stand) => Promise<unknown>>> = {
  '01/0': hold('builds'),
  '01/8': async (stand) => {
    await letGo(stand);
    await hold('agents')(stand);
  },
  '01/10': letGo,
  '04/8': hold('agents'),
  '04/12': async (stand) => {
    await letGo(stand);
    await workspace(stand, isIdle);
  },
  '04/16': async (stand) => {
    await workspace(stand, isIdle);
    await hold('builds')(stand);
  },
  '04/19': letGo,
  '05/29': repair,
  // Six racers asked at once, of a workspace that had been made.
  // The race is for the time between look and insert.
  '07/0': (stand) => stand.restart({ checkMs: 4_000 }),
  '07/16': (stand) => stand.restart(),
  '07/7': (stand) => workspace(stand, isIdle),
  '07/17': (stand) => workspace(stand, isRunning),
  '07/27': hold('builds'),
  '07/39': letGo,
  // The connections of a limited server: asked until it refuses.
  '10/2': (stand) => workspace(stand, isReady),
  '11/1': limited,
  '12/0': (stand) => stand.restart(),
  '12/12': hold('agents'),
  '12/19': letGo,
  '13/10': hold('agents'),
  '13/17': letGo,
  '13/32': (stand) => workspaceOfChat(stand),
  '14/25': (stand) => workspace(stand, isConnected),
  '14/30': (stand) => workspace(stand, isIdle),
  '14/35': (stand) => workspace(stand, isIdle),
  '14/40': (stand) => workspace(stand, isConnected),
  '14/41': toolRuns,
  '14/34': (stand) => workspace(stand, isIdle),
  '13/20': chat,
  '13/51': (stand) => workspace(stand, isIdle),
  '13/52': (stand) => workspace(stand, isIdle),
  '12/35': (stand) => workspace(stand, isIdle),
  '15/0': (stand) => stand.restart({ timeScale: 0.004 }),
};

/** A command that runs has not written anything; what can be seen is that the chat runs and is bound. */
async function toolRuns(stand: Stand): Promise<void> {
  await until(stand, `/api/experimental/chats/${stand.chatId}`, (body) => at(body, 'agent_id') !== undefined);
}

async function workspaceOfChat(stand: Stand): Promise<void> {
  const body = await stand.read(`/api/experimental/chats/${stand.chatId}`);
  await until(stand, `/api/v2/workspaces/${String(at(body, 'workspace_id'))}`, isConnected);
}

async function repair(stand: Stand): Promise<void> {
  await workspace(stand, isIdle);
  const path = `/local/v1/workspaces/${stand.workspaceId}/repair`;
  await stand.world.ask({ method: 'POST', path, auth: 'default' });
}

async function limited(stand: Stand): Promise<void> {
  await stand.restart({ timeScale: 1, requestsPerMinute: 20 });
  for (let count = 0; count < 20; count += 1) await stand.read('/api/v2/users/me/login-type');
}

/** Each model of recording 14 had a provider of its own. */
async function addModel(stand: Stand, recorded: string): Promise<void> {
  const ask = async (path: string, sent: unknown) =>
    String(at((await stand.world.ask({ method: 'POST', path, auth: 'default', sent })).body, 'id'));
  const provider = await ask('/api/v2/ai/providers', { type: 'openai-compat', name: recorded, api_keys: ['mock-key'] });
  const config = { ai_provider_id: provider, model: 'mock', context_limit: 200_000 };
  stand.world.learn(recorded, await ask('/api/experimental/chats/model-configs', config));
}

export async function until(stand: Stand, path: string, holds: (body: unknown) => boolean): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (!holds(await stand.read(path))) {
    if (performance.now() > deadline) throw new Error(`what was waited for at ${path} did not come`);
    await pause(3);
  }
}

/** The request for now: deadlines ahead of now, the archive that was recorded by its size only, a log id of this server's. */
export function prepareSent(stand: Stand, exchange: Exchange): Exchange {
  if (exchange.path === '/api/v2/files') return { ...exchange, sent: recordedTemplate() };
  if (isObject(exchange.sent) && 'deadline' in exchange.sent) {
    const minutes = exchange.label.includes('+10m') ? 10 : 180;
    return { ...exchange, sent: { deadline: new Date(Date.now() + minutes * MINUTE_MS).toISOString() } };
  }
  if (exchange.path.includes('/logs?after=')) {
    const middle = stand.lastLogIds[Math.floor(stand.lastLogIds.length / 2)] ?? 0;
    return { ...exchange, path: exchange.path.replace(/after=\d+/, `after=${middle}`) };
  }
  return { ...exchange, sent: slower(exchange.sent) };
}

/** A build that is to be cancelled takes longer: on a fast clock it would be over before it was asked. */
function slower(sent: unknown): unknown {
  const values = at(sent, 'rich_parameter_values');
  if (!isObject(sent) || !Array.isArray(values)) return sent;
  const stretched: readonly unknown[] = values.map((value: unknown) =>
    at(value, 'name') === 'build_seconds' && Number(at(value, 'value')) >= 30
      ? { name: 'build_seconds', value: String(Number(at(value, 'value')) * 5) }
      : value,
  );
  return { ...sent, rich_parameter_values: stretched };
}
