/** The recorded paths of the control plane's short workflows, each with activities that stand in for the store and git. */
import type { PairActivities } from '../../schemas/pair-activities.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { ReconcileActivities, ReconcileInput } from '../../schemas/reconcile.ts';
import type { TicketActivities } from '../../schemas/ticket/activities.ts';
import type { CloseIncidentInput } from '../../schemas/ticket/workflow.ts';
import type { ClosePairInput, OpenPairInput, SetKillSwitchInput } from '../../schemas/verify/workflow.ts';

type ControlActivities = PairActivities & ReconcileActivities & Pick<TicketActivities, 'closeLandingIncident'>;

export interface ControlPath {
  readonly name: string;
  readonly workflow: 'openPair' | 'closePair' | 'setKillSwitch' | 'reconcile' | 'closeIncident';
  readonly input: OpenPairInput | ClosePairInput | SetKillSwitchInput | ReconcileInput | CloseIncidentInput;
  readonly activities?: Partial<ControlActivities>;
}

const opening: OpenPairInput = {
  tenant: 'test',
  pair: 'golden',
  importId: 'i-1',
  headSha: 'a'.repeat(40),
  baseSha: null,
  execution: 'e1',
  generation: 1,
  roles: ['verifier', 'sentinel'],
  routing: { default: 'verifier', permitted: ['verifier'] },
  workspaces: { verifier: { name: 'verifier-1', generation: 1 } },
  baseBranch: 'main',
  claims: [
    {
      role: 'verifier',
      use: 'executor',
      workspace: 'verifier-1',
      workspaceGeneration: 1,
      codeDigestHex: 'c'.repeat(64),
      lifetimeSecs: 60,
    },
  ],
  by: 'c-operator',
};

const turning: SetKillSwitchInput = {
  tenant: 'test',
  scope: 'tenant',
  on: true,
  reason: 'drill',
  by: 'c-operator',
  cancelRunning: false,
};

export const CONTROL_PATHS: readonly ControlPath[] = [
  { name: 'opened', workflow: 'openPair', input: opening },
  {
    name: 'bundle-refused',
    workflow: 'openPair',
    input: opening,
    activities: {
      importRepository: () => {
        throw portcullisError('repository_invalid', { path: 'the bundle', reason: 'recorded' });
      },
    },
  },
  { name: 'closed', workflow: 'closePair', input: { tenant: 'test', pair: 'golden', by: 'c-operator' } },
  { name: 'turned-on', workflow: 'setKillSwitch', input: turning },
  { name: 'turned-on-cancelling', workflow: 'setKillSwitch', input: { ...turning, cancelRunning: true } },
  { name: 'turned-off', workflow: 'setKillSwitch', input: { ...turning, on: false } },
  { name: 'round', workflow: 'reconcile', input: { tenant: 'test' } },
  {
    name: 'ruled',
    workflow: 'closeIncident',
    input: {
      tenant: 'test',
      incident: 'landing-1',
      ruling: { ruling: 'close', by: 'c-operator', reason: 'it is on the branch' },
    },
  },
];

/** The stand-ins of a path: its own over these. */
export function standIns(path: ControlPath): ControlActivities {
  return {
    importRepository: () => Promise.resolve(),
    recordPair: ({ input, credentials }) =>
      Promise.resolve({
        pair: input.pair,
        head: {
          schema: 'portcullis/pair-head/v1',
          pair: input.pair,
          headSha: input.headSha,
          baseSha: input.baseSha,
          execution: input.execution,
          generation: input.generation,
        },
        roles: {
          schema: 'portcullis/pair-roles/v1',
          pair: input.pair,
          roles: input.roles,
          routing: input.routing,
          workspaces: input.workspaces,
          baseBranch: input.baseBranch,
        },
        credentials: credentials.map(({ record }) => ({ role: record.role, use: record.use, credentialId: record.id })),
      }),
    revokePair: () => Promise.resolve(['c-1']),
    writeKillSwitch: () => Promise.resolve(),
    cancelRunning: () => Promise.resolve(1),
    tellTickets: () => Promise.resolve({ told: 2, next: null }),
    endAbandonedRuns: () => Promise.resolve(0),
    reconcileWorkspaces: () => Promise.resolve(null),
    closeLandingIncident: () => Promise.resolve(),
    ...path.activities,
  };
}
