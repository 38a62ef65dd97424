/** What a workspace is called after its last build, and when a build is over. */
import type { Build, Job } from '../state/records.ts';

export function isActive({ status }: Job): boolean {
  switch (status) {
    case 'pending':
    case 'running':
    case 'canceling':
      return true;
    case 'succeeded':
    case 'failed':
    case 'canceled':
      return false;
  }
}

const UNDER_WAY = { start: 'starting', stop: 'stopping', delete: 'deleting' } as const;
const AFTERWARDS = { start: 'running', stop: 'stopped', delete: 'deleted' } as const;

/** `failed` does not tell which transition failed, here as there. */
export function buildStatus({ transition, job }: Pick<Build, 'transition' | 'job'>): string {
  switch (job.status) {
    case 'running':
      return UNDER_WAY[transition];
    case 'succeeded':
      return AFTERWARDS[transition];
    case 'pending':
    case 'canceling':
    case 'canceled':
    case 'failed':
      return job.status;
  }
}
