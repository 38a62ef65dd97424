/** Stand-ins for what the activities of workspaces need: each test gives the calls that it is about, and any other fails it. */
import type { CoderPort } from '../../activities/coder/port.ts';
import { generateSigningKey } from '../../activities/signing/keys.ts';
import type { LifecycleStore } from '../../activities/store/lifecycle-port.ts';
import type { ControlStore } from '../../activities/store/port.ts';
import { NO_SWEEP } from '../../activities/workspaces/compute-sweep.ts';
import type { WorkspaceDependencies } from '../../activities/workspaces/dependencies.ts';
import type { Pulse } from '../../activities/workspaces/pulse.ts';
import { loadWorkspaceRegistry } from '../../activities/workspaces/registry.ts';
import type { AgentState, BuildState } from '../../schemas/coder/build.ts';
import type { WorkspaceReading } from '../../schemas/coder/workspace.ts';

export interface Given {
  readonly port?: Partial<CoderPort>;
  readonly store?: Partial<ControlStore>;
  readonly lifecycle?: Partial<LifecycleStore>;
  readonly describe?: WorkspaceDependencies['describe'];
  readonly signalSlots?: WorkspaceDependencies['signalSlots'];
}

export async function needsOf({
  port,
  store,
  lifecycle,
  describe,
  signalSlots,
}: Given): Promise<WorkspaceDependencies> {
  return {
    store: partial<ControlStore>('store', store ?? {}),
    lifecycle: partial<LifecycleStore>('lifecycle', lifecycle ?? {}),
    registry: await loadWorkspaceRegistry(),
    coder: {
      port: partial<CoderPort>('port', port ?? {}),
      chats: null,
      breakGlass: null,
      organization: 'coder',
      owner: 'portcullis',
      sweep: NO_SWEEP,
    },
    claimKey: new Uint8Array(32).fill(7),
    actionKey: generateSigningKey(),
    signalSlots: signalSlots ?? (() => Promise.resolve()),
    describe: describe ?? (() => Promise.resolve('open')),
    staleAfterMs: 90_000,
  };
}

function partial<T extends object>(what: string, given: Partial<T>): T {
  return new Proxy(given, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (value === undefined) throw new Error(`${what}.${String(name)} is not part of this test`);
      return value;
    },
  }) as T;
}

/** A pulse whose pauses take no time and move its clock on. */
export function quickPulse(): Pulse {
  let clock = 0;
  return {
    signal: new AbortController().signal,
    pause: (ms) => {
      clock += ms;
      return Promise.resolve();
    },
    now: () => clock,
  };
}

const agent: AgentState = { id: 'a', name: 'main', parentId: null, status: 'connected', lifecycle: 'ready' };

export function buildOf(change: Partial<BuildState> = {}): BuildState {
  return {
    id: 'b1',
    workspaceId: 'w1',
    number: 1,
    transition: 'start',
    job: 'succeeded',
    jobError: '',
    jobErrorCode: '',
    reason: 'initiator',
    templateVersionId: 'v1',
    deadline: '2026-12-01T00:00:00Z',
    queuePosition: 0,
    queueSize: 0,
    provisionersAvailable: 1,
    agents: [agent],
    ...change,
  };
}

export function readingOf(change: Partial<BuildState> = {}): WorkspaceReading {
  return {
    seen: 'present',
    workspace: {
      id: 'w1',
      name: 'forge-1',
      ownerId: 'u',
      ownerName: 'portcullis',
      organizationId: 'o',
      templateId: 't1',
      templateName: 'development',
      ttlMs: 60_000,
      dormant: false,
      build: buildOf(change),
    },
  };
}
