/** Lines of builds and agents, after a known one. */
import type { LogLine } from '../../schemas/coder/workspace.ts';
import { expectAnswer } from './answer.ts';
import { agentLogsAnswer, buildLogsAnswer } from './answers.schema.ts';
import type { CoderClient } from './client.ts';
import type { CallOptions } from './port.ts';
import { signalOf } from './reads.ts';

export function readBuildLogs(
  client: CoderClient,
  build: string,
  after = 0,
  call: CallOptions = {},
): Promise<readonly LogLine[]> {
  const request = client.GET('/api/v2/workspacebuilds/{build}/logs', {
    params: { path: { build }, query: after > 0 ? { after } : {} },
    ...signalOf(call),
  });
  return expectAnswer('read build logs', buildLogsAnswer, request, call);
}

export function readAgentLogs(
  client: CoderClient,
  agent: string,
  after = 0,
  call: CallOptions = {},
): Promise<readonly LogLine[]> {
  const request = client.GET('/api/v2/workspaceagents/{agent}/logs', {
    params: { path: { agent }, query: after > 0 ? { after } : {} },
    ...signalOf(call),
  });
  return expectAnswer('read agent logs', agentLogsAnswer, request, call);
}
