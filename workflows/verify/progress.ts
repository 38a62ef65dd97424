/**
 * What an operator sees of a run: search attributes and current details in the stock Temporal UI. Shown before each wait, so
 * that every wait says what it waits for (invariant 16).
 */
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import type { TaskPhase } from '../../schemas/verify/task.ts';

export interface Sight {
  readonly phase: TaskPhase;
  /** A short stable word: what the wait is for; `nothing` when it has ended. */
  readonly waitingOn: string;
  /** A sentence for people. */
  readonly detail: string;
}

export type Show = (sight: Sight) => void;

/** Shows a sight when it differs from the one before; an unchanged one would only lengthen the history. */
export function progressDisplay(heading: string): Show {
  let shown = '';
  return ({ phase, waitingOn, detail }) => {
    const key = `${phase}|${waitingOn}|${detail}`;
    if (key === shown) return;
    shown = key;
    upsertSearchAttributes([
      { key: SEARCH_ATTRIBUTES.phase, value: phase },
      { key: SEARCH_ATTRIBUTES.waitingOn, value: waitingOn },
      { key: SEARCH_ATTRIBUTES.state, value: phase === 'ended' ? 'closed' : 'open' },
    ]);
    setCurrentDetails(`**${heading}**\n\n${phase}: ${detail}\n\nWaiting on: ${waitingOn}`);
  };
}
