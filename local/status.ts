/** How the local stack is, looked at from outside: what is recorded, and whether the recorded processes live. */
import { lockHolder } from './lock.ts';
import { lives } from './processes.ts';
import { PART_NAMES, readState, type LocalState, type PartName, type StatePaths } from './state.ts';

export interface PartStatus {
  readonly part: PartName;
  /** As recorded; `orphaned` lives without a supervisor, `gone` is recorded and does not live. */
  readonly state: LocalState['parts'][PartName]['state'] | 'orphaned' | 'gone';
  readonly pid: number | null;
  readonly address: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly restarts: number;
  readonly log: string | null;
}

export interface StackStatus {
  /** True when the supervisor lives and every part serves. */
  readonly ready: boolean;
  readonly supervisorPid: number | null;
  readonly startedAt: number | null;
  readonly temporalUi: string | null;
  readonly gateway: string | null;
  readonly parts: readonly PartStatus[];
}

export function stackStatus(paths: StatePaths): StackStatus {
  const state = readState(paths);
  const supervisor = lockHolder(paths.lock);
  if (state === null) {
    return {
      ready: false,
      supervisorPid: supervisor?.pid ?? null,
      startedAt: null,
      temporalUi: null,
      gateway: null,
      parts: [],
    };
  }
  const parts = PART_NAMES.map((part) => partStatus(part, state, supervisor !== null));
  const serving = parts.every((part) => part.state === 'ready' || part.state === 'external');
  // Until a new supervisor has ended what it found, the state is still the one of the supervisor before it.
  const current = supervisor !== null && state.supervisor?.started === supervisor.started;
  return {
    ready: current && state.ready && serving,
    supervisorPid: supervisor?.pid ?? null,
    startedAt: supervisor === null ? null : state.startedAt,
    temporalUi: state.parts.temporal.state === 'external' ? null : `http://127.0.0.1:${state.ports.temporalUi}`,
    gateway: `http://127.0.0.1:${state.ports.gateway}`,
    parts,
  };
}

function partStatus(part: PartName, state: LocalState, supervised: boolean): PartStatus {
  const { process: found, address, since, restarts, log, state: recorded } = state.parts[part];
  const alive = found !== null && lives(found);
  const actual = found === null ? recorded : alive ? (supervised ? recorded : 'orphaned') : 'gone';
  return { part, state: actual, pid: alive ? found.pid : null, address, since, restarts, log };
}
