/** How long the parts of a build took: where a slow start comes from. */
import type { LocalCoderContext } from '../context.ts';
import type { Build } from '../state/records.ts';

export function buildTimings({ state }: LocalCoderContext, build: Build) {
  const { job } = build;
  const agents = state.agents.of(build.id);
  const stages =
    job.startedAt === null || job.completedAt === null
      ? []
      : [{ stage: 'apply', source: 'coder', action: 'terraform', resource: 'coder_stage_apply' }];
  return {
    provisioner_timings: stages.map((stage) => ({
      job_id: job.id,
      started_at: job.startedAt,
      ended_at: job.completedAt,
      ...stage,
    })),
    agent_script_timings: agents
      .filter((agent) => agent.startedAt !== null && agent.readyAt !== null)
      .map((agent) => ({
        started_at: agent.startedAt,
        ended_at: agent.readyAt,
        exit_code: agent.startExit ?? 0,
        stage: 'start',
        status: agent.lifecycle === 'start_error' ? 'exit_failure' : 'ok',
        display_name: 'Startup Script',
        workspace_agent_id: agent.id,
        workspace_agent_name: 'main',
      })),
    agent_connection_timings: agents
      .filter((agent) => agent.firstConnectedAt !== null)
      .map((agent) => ({
        started_at: agent.createdAt,
        ended_at: agent.firstConnectedAt,
        stage: 'connect',
        workspace_agent_id: agent.id,
        workspace_agent_name: 'main',
      })),
  };
}
