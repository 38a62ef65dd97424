/** Whether a state trail was gone through again: the recorded states in their order, others may lie between. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Watching } from './watching.ts';
import { at, isObject, textAt } from './observe.ts';

const DEADLINE_MS = 5_000;

/** Null when it was; otherwise what was seen instead. */
export async function followed(recorded: readonly string[], seen: () => readonly string[]): Promise<string | null> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const states = seen();
    if (isWithin(recorded, states)) return null;
    if (performance.now() > deadline)
      return `went through ${states.join(', ') || 'nothing'} and not ${recorded.join(', ')}`;
    await pause(3);
  }
}

function isWithin(recorded: readonly string[], states: readonly string[]): boolean {
  let next = 0;
  for (const state of states) if (state === recorded[next]) next += 1;
  return next === recorded.length;
}

/** States of a job: `running/starting`, `failed/failed: why`. */
export function jobTrail(note: readonly unknown[]): readonly string[] {
  return note.map((one) => jobText(at(one, 'job_status'), at(one, 'build_status'), textAt(one, 'error')));
}

export function jobsSeen(watching: Watching, workspaceId: string, buildId: string): readonly string[] {
  return watching
    .of(workspaceId)
    .filter((one) => one.buildId === buildId)
    .map(({ state }) => jobText(state['job'], state['status'], textAt(state, 'error')));
}

function jobText(job: unknown, status: unknown, error: string): string {
  return `${String(job)}/${String(status)}${error === '' ? '' : `: ${error}`}`;
}

/** States of an agent, as the trails write them. */
export function agentsSeen(watching: Watching, workspaceId: string): readonly string[] {
  return watching.of(workspaceId).flatMap(({ state }) => {
    const agents = state['agents'];
    return Array.isArray(agents)
      ? agents.map(
          (agent) =>
            `${String(state['status'])}|${String(agent).replace('/', '|')}|healthy=${String(state['healthy'])}`,
        )
      : [];
  });
}

export function isListOf(note: unknown, key: string): note is readonly unknown[] {
  return Array.isArray(note) && note.length > 0 && note.every((one) => isObject(one) && key in one);
}
