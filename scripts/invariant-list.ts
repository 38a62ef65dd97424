/** The invariants (threat model, `docs/security/`): a test that proves one carries its number, `[inv-06] …`. */
export interface Invariant {
  readonly number: number;
  /** A short name; the whole sentence is in the threat model. */
  readonly name: string;
  /** Issue that owes its first test, where the part that it is about does not exist yet. */
  readonly owedBy: number | null;
}

export const INVARIANTS: readonly Invariant[] = [
  { number: 1, name: 'no agent decides', owedBy: null },
  { number: 2, name: 'deny unless evidence', owedBy: null },
  { number: 3, name: 'one subject, one evidence set, one policy revision', owedBy: null },
  { number: 4, name: 'nothing of one execution authorises the next', owedBy: null },
  { number: 5, name: 'producers and verifiers write no result, decision or policy', owedBy: null },
  { number: 6, name: 'complete only after persisted', owedBy: null },
  { number: 7, name: 'infrastructure is never a pass and never a failed criterion', owedBy: null },
  { number: 8, name: 'sent twice runs once', owedBy: null },
  { number: 9, name: 'a terminal state is absorbing', owedBy: null },
  { number: 10, name: 'every workspace has a live owner', owedBy: 8 },
  { number: 11, name: 'gone when it is proved gone', owedBy: 8 },
  { number: 12, name: 'a workspace only shortens its life', owedBy: 8 },
  { number: 13, name: 'clean-up runs on cancel and failure', owedBy: null },
  { number: 14, name: 'no process outlives its verify', owedBy: null },
  { number: 15, name: 'no credential where it does not belong', owedBy: null },
  { number: 16, name: 'every wait says what it waits for', owedBy: null },
  { number: 17, name: 'nothing trusted runs where a producer can write', owedBy: null },
  { number: 18, name: 'a minute without one part loses nothing', owedBy: null },
  { number: 19, name: 'bad input is named, harmless and bounded', owedBy: null },
  { number: 20, name: 'every committed history replays', owedBy: null },
];
