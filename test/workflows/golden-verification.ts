/** The recorded paths of `verification`, each with what its activities, workspaces and reviewer are scripted to. */
import { Context } from '@temporalio/activity';
import { CancelledFailure } from '@temporalio/common';
import { pollUntil } from '../support/poll.ts';
import {
  COMMAND_CHECK,
  REJECTED,
  UNPARSEABLE,
  APPROVED,
  type StagedVerification,
  type VerificationScript,
} from './verification-stage.ts';

export interface VerificationPath {
  readonly name: string;
  readonly script: VerificationScript;
  readonly meanwhile?: (staged: StagedVerification) => Promise<void>;
}

/** The reviewer sits there until it is interrupted. */
const untilInterrupted: NonNullable<VerificationScript['agent']> = async () => {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), 50);
  await context.cancelled.catch(() => {}).finally(() => clearInterval(beat));
  throw new CancelledFailure('interrupted');
};

export const VERIFICATION_PATHS: readonly VerificationPath[] = [
  { name: 'approved', script: {} },
  { name: 'plan-approved', script: { gate: 'plan', checks: [] } },
  { name: 'rejected', script: { reading: () => REJECTED } },
  { name: 'asked-again', script: { reading: (look) => (look === 0 ? UNPARSEABLE : APPROVED) } },
  {
    name: 'reviewer-unavailable',
    script: { agent: () => Promise.resolve({ outcome: 'errored', message: '', kind: 'overloaded' }) },
  },
  { name: 'reviewer-workspace-unready', script: { workspace: (role) => role !== 'sentinel' } },
  { name: 'checks-failed', script: { status: () => 'failed', verifierNeeded: false } },
  { name: 'checks-unanswered', script: { scope: 'checks', workspace: (role) => role !== 'verifier' } },
  { name: 'checks-alone', script: { scope: 'checks', gate: 'merge', checks: [COMMAND_CHECK] } },
  { name: 'plan-missing', script: { missing: 'PLAN.md' } },
  {
    name: 'cancelled',
    script: { agent: untilInterrupted },
    meanwhile: async ({ handle, started }) => {
      await pollUntil(() => started.some((run) => run.startsWith('sentinel/')), { what: 'the reviewer' });
      await handle.cancel();
    },
  },
];
