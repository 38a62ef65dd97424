/** What a reading of Coder, with the presence at the door, says about a workspace that is being made. */
import { readiness, type BuildState } from '../../schemas/coder/build.ts';
import type { WorkspaceReading } from '../../schemas/coder/workspace.ts';
import { shortened } from '../../schemas/text.ts';
import type { ProvisionSight } from '../../schemas/workspace/activities.ts';

/** `null`: its role has no executor, so nobody has to be at the door. */
export type DoorSight = 'there' | 'not_there' | null;

export function provisionSight(reading: WorkspaceReading, door: DoorSight): ProvisionSight {
  if (reading.seen !== 'present') return failed(reading.seen === 'deleted' ? 'gone' : 'unseen', 'Coder shows nothing');
  const { build } = reading.workspace;
  switch (readiness(build)) {
    case 'building':
      return buildingSight(build);
    case 'connecting':
      return seen('connecting', 'the agent connects and runs its start script');
    case 'lost':
      return seen('connecting', 'the agent was there and is not now');
    case 'failed':
      return failedSight(build);
    case 'not_started':
      return failed('not_running', `its last build is a ${build.transition}`);
    case 'ready':
      return readySight(build, door);
  }
}

function buildingSight({ job, queuePosition, queueSize }: BuildState): ProvisionSight {
  if (job !== 'pending') return seen('building', 'Coder builds it');
  return seen('queued', `place ${queuePosition} of ${queueSize} in Coder's queue`);
}

function failedSight({ job, jobError, jobErrorCode, agents }: BuildState): ProvisionSight {
  if (job !== 'succeeded') {
    const code = jobErrorCode === '' ? `build_${job}` : jobErrorCode.toLowerCase();
    return failed(code, jobError === '' ? `the build ended ${job}` : jobError);
  }
  const agent = agents.find(({ status, lifecycle }) => status === 'timeout' || lifecycle !== 'ready');
  const reason = agent?.status === 'timeout' ? 'agent_timeout' : (agent?.lifecycle ?? 'agent_failed');
  return failed(reason, 'its agent will never be ready');
}

function readySight({ deadline }: BuildState, door: DoorSight): ProvisionSight {
  // Without one Coder would never stop it: the backstop behind our timer would be none.
  if (deadline === null) return failed('no_backstop', 'Coder set no deadline, so nothing stands behind our timer');
  if (door === 'not_there') return seen('door', 'its executor is not at the door yet');
  return seen('ready', 'agent connected and ready');
}

function seen(step: ProvisionSight['step'], detail: string): ProvisionSight {
  return { step, detail, reason: '' };
}

/** Text of Coder's is cut: it is shown, never read. */
function failed(reason: string, detail: string): ProvisionSight {
  return { step: 'failed', reason: shortened(reason, 64), detail: shortened(detail, 300) };
}
