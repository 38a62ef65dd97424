/** Agents: made with a start build, told about by the runtime, and what their status is at a moment. */
import { randomUUID } from 'node:crypto';
import type { LocalCoderContext } from '../context.ts';
import type { AgentEvent } from '../runtime.ts';
import type { Agent, Build } from '../state/records.ts';

export function addAgent({ state, clock, settings }: LocalCoderContext, build: Build, startExit: number | null): Agent {
  const at = clock.iso();
  return state.agents.put({
    id: randomUUID(),
    buildId: build.id,
    workspaceId: build.workspaceId,
    resourceId: randomUUID(),
    scriptId: randomUUID(),
    logSourceId: randomUUID(),
    createdAt: at,
    updatedAt: at,
    firstConnectedAt: null,
    disconnectedAt: null,
    startedAt: null,
    readyAt: null,
    lifecycle: 'created',
    connectionTimeoutSecs: settings.connectionTimeoutSecs,
    startExit,
    logsLength: 0,
  });
}

/** From the end of its build on, an agent that has not connected has so long to do so. */
export function connectLimits({ state, clock, settings, changes, ending }: LocalCoderContext, build: Build): void {
  for (const agent of state.agents.of(build.id)) {
    if (agent.firstConnectedAt !== null) continue;
    state.agents.put({ ...agent, createdAt: build.updatedAt, updatedAt: build.updatedAt });
    // The status is worked out when it is read; this only tells who watches that it may have changed.
    void clock.sleep(settings.connectionTimeoutSecs * 1000 + 50, ending).then(
      () => changes.say(build.workspaceId),
      () => {},
    );
  }
}

export type AgentStatus = 'connecting' | 'connected' | 'disconnected' | 'timeout';

export function agentStatus({ clock }: LocalCoderContext, agent: Agent): AgentStatus {
  if (agent.disconnectedAt !== null) return 'disconnected';
  if (agent.firstConnectedAt !== null) return 'connected';
  const waited = clock.now().getTime() - Date.parse(agent.createdAt);
  return waited >= agent.connectionTimeoutSecs * 1000 ? 'timeout' : 'connecting';
}

/** An event of an agent that is not known changes nothing: its workspace was made by a state that is not this one. */
export function heard({ state, clock, changes }: LocalCoderContext, event: AgentEvent): void {
  const agent = state.agents.get(event.agentId);
  if (agent === undefined) return;
  const at = clock.iso();
  state.agents.put({ ...agent, ...changed(agent, event, at), updatedAt: at });
  if (event.event === 'log') {
    const { level, text } = event;
    state.logs.append(agent.id, { at, source: 'agent', level, stage: '', text });
    changes.say(`log ${agent.id}`);
  } else {
    changes.say(agent.workspaceId);
  }
}

function changed(agent: Agent, event: AgentEvent, at: string): Partial<Agent> {
  switch (event.event) {
    case 'connected':
      return { firstConnectedAt: agent.firstConnectedAt ?? at, disconnectedAt: null };
    case 'disconnected':
      return agent.firstConnectedAt === null ? {} : { disconnectedAt: agent.disconnectedAt ?? at };
    case 'log':
      return { logsLength: agent.logsLength + event.text.length };
    case 'lifecycle':
      switch (event.state) {
        case 'starting':
          return { lifecycle: event.state, startedAt: at };
        case 'ready':
        case 'start_error':
        case 'start_timeout':
          return { lifecycle: event.state, readyAt: at };
        case 'shutting_down':
        case 'shutdown_error':
        case 'shutdown_timeout':
        case 'off':
          return { lifecycle: event.state };
      }
  }
}
