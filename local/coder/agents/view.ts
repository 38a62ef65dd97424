/** An agent as the API shows one, and why it is not healthy. */
import type { LocalCoderContext } from '../context.ts';
import type { Agent } from '../state/records.ts';
import { agentStatus } from './agents.ts';

export function agentView(coder: LocalCoderContext, agent: Agent) {
  const status = agentStatus(coder, agent);
  const connected = agent.firstConnectedAt !== null;
  return {
    id: agent.id,
    parent_id: null,
    created_at: agent.createdAt,
    updated_at: agent.updatedAt,
    ...(connected ? { first_connected_at: agent.firstConnectedAt, last_connected_at: agent.firstConnectedAt } : {}),
    ...(agent.disconnectedAt === null ? {} : { disconnected_at: agent.disconnectedAt }),
    ...(agent.startedAt === null ? {} : { started_at: agent.startedAt }),
    ...(agent.readyAt === null ? {} : { ready_at: agent.readyAt }),
    status,
    lifecycle_state: agent.lifecycle,
    name: 'main',
    resource_id: agent.resourceId,
    architecture: 'amd64',
    environment_variables: null,
    operating_system: 'linux',
    logs_length: agent.logsLength,
    logs_overflowed: false,
    version: connected ? 'v2.36.0' : '',
    api_version: connected ? '2.10' : '',
    apps: [],
    ...(status === 'connected' ? { latency: { 'Coder Embedded Relay': { preferred: true, latency_ms: 1 } } } : {}),
    connection_timeout_seconds: agent.connectionTimeoutSecs,
    troubleshooting_url: 'https://coder.com/docs/admin/templates/troubleshooting',
    subsystems: [],
    health: agentHealth(coder, agent),
    display_apps: ['vscode', 'ssh_helper', 'port_forwarding_helper', 'web_terminal'],
    log_sources: [
      {
        workspace_agent_id: agent.id,
        id: agent.logSourceId,
        created_at: agent.createdAt,
        display_name: 'Startup Script',
        icon: '/emojis/25b6-fe0f.png',
      },
    ],
    scripts: [
      {
        id: agent.scriptId,
        log_source_id: agent.logSourceId,
        log_path: 'coder-startup-script.log',
        script: '',
        cron: '',
        run_on_start: true,
        run_on_stop: false,
        start_blocks_login: true,
        timeout: 0,
        display_name: 'Startup Script',
        ...scriptEnd(agent),
      },
    ],
    startup_script_behavior: 'blocking',
  };
}

function scriptEnd({ lifecycle, startExit, readyAt }: Agent) {
  if (readyAt === null) return {};
  const failed = lifecycle === 'start_error';
  return { exit_code: failed ? (startExit ?? 1) : 0, status: failed ? 'exit_failure' : 'ok' };
}

export function agentHealth(coder: LocalCoderContext, agent: Agent): { healthy: boolean; reason?: string } {
  switch (agentStatus(coder, agent)) {
    case 'connecting':
      return { healthy: false, reason: 'agent has not yet connected' };
    case 'timeout':
      return { healthy: false, reason: 'agent is taking too long to connect' };
    case 'disconnected':
      return { healthy: false, reason: 'agent has lost connection' };
    case 'connected':
      break;
  }
  switch (agent.lifecycle) {
    case 'start_error':
      return { healthy: false, reason: 'agent startup script exited with an error' };
    case 'shutting_down':
    case 'shutdown_error':
    case 'shutdown_timeout':
    case 'off':
      return { healthy: false, reason: 'agent is shutting down' };
    case 'created':
    case 'starting':
    case 'start_timeout':
    case 'ready':
      return { healthy: true };
  }
}
