/**
 * Seats: each required verifier and each required person is another principal. One hand that fits two seats sits in one
 * (a maximum bipartite matching; verifiers are seated first).
 */
export interface Seat<T> {
  /** What the seat is for: a verifier class or a role. */
  readonly need: T;
  /** Roots of those who may sit in it. */
  readonly candidates: ReadonlySet<string>;
}

/** The needs of the seats that stay empty, in the order given. */
export function emptySeats<T>(seats: readonly Seat<T>[]): readonly T[] {
  const seatOf = new Map<string, number>();
  return seats.flatMap((seat, index) => (place(seats, index, seatOf, new Set()) ? [] : [seat.need]));
}

/** Seats somebody at `index`, moving those already seated if they fit elsewhere. */
function place<T>(seats: readonly Seat<T>[], index: number, seatOf: Map<string, number>, asked: Set<string>): boolean {
  for (const person of seats[index]?.candidates ?? []) {
    if (asked.has(person)) continue;
    asked.add(person);
    const taken = seatOf.get(person);
    if (taken === undefined || place(seats, taken, seatOf, asked)) {
      seatOf.set(person, index);
      return true;
    }
  }
  return false;
}
