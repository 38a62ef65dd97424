/** The files under `test/histories/`: one for each recorded path, and one more for the run that follows a path which continues as new. */
import { join } from 'node:path';
import { CONTROL_PATHS } from './golden-control.ts';
import { GATE_PATHS } from './golden-gate.ts';
import { SLOTS_PATHS } from './golden-slots.ts';
import { TICKET_PATHS } from './golden-ticket.ts';
import { GOLDEN_PATHS } from './golden.ts';
import { VERIFICATION_PATHS } from './golden-verification.ts';
import { WORKSPACE_PATHS } from './golden-workspace.ts';

export const HISTORIES = join(import.meta.dirname, '..', 'histories');

/** Relative to {@link HISTORIES}, without `.json`: `ticket/abandoned`. */
export function goldenNames(): readonly string[] {
  const of = (workflow: string, paths: readonly { readonly name: string; readonly then?: string }[]) =>
    paths.flatMap((path) => namesOf(path).map((name) => `${workflow}/${name}`));
  return [
    ...of('verify', GOLDEN_PATHS),
    ...of('ticket', TICKET_PATHS),
    ...of('slots', SLOTS_PATHS),
    ...of('verification', VERIFICATION_PATHS),
    ...[...GATE_PATHS, ...CONTROL_PATHS, ...WORKSPACE_PATHS].map(({ workflow, name }) => `${workflow}/${name}`),
  ];
}

/** Names of a path's runs, in order. */
export function namesOf({ name, then }: { readonly name: string; readonly then?: string }): readonly string[] {
  return then === undefined ? [name] : [name, then];
}
