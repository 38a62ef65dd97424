/** Whether the gates know the checks that a ticket lists: one that nobody knows would be found out at its last gate. */
import type { CheckDefinition } from '../../schemas/gate/check.ts';
import type { TicketCheck } from '../../schemas/ticket/definition.ts';

export interface UnknownCheck {
  readonly check: string;
  /** Follows the name of the check in a sentence. */
  readonly reason: string;
}

/** Whether the ticket's check is this definition: by its name, and by exactly what it runs. */
export function isCheckOf({ check, argv }: TicketCheck, definition: CheckDefinition): boolean {
  return definition.kind === 'command' && definition.template === check && isSame(argv, definition.argv);
}

/** The first check that no definition is of; `null` when there is none. */
export function unknownCheck(
  checks: readonly TicketCheck[],
  definitions: readonly CheckDefinition[],
): UnknownCheck | null {
  for (const listed of checks) {
    if (definitions.some((definition) => isCheckOf(listed, definition))) continue;
    const named = definitions.find(
      (definition) => definition.kind === 'command' && definition.template === listed.check,
    );
    const reason =
      named?.kind === 'command' ? `its command is ${named.argv.join(' ')}` : 'no gate has a check of that name';
    return { check: listed.check, reason };
  }
  return null;
}

/**
 * Seconds that the check may take: what the ticket asks for, and never more than its definition gives.
 *
 * @param definition one that `checks` has an entry for; otherwise its own time holds
 */
export function checkTimeout(
  checks: readonly TicketCheck[],
  definition: Extract<CheckDefinition, { readonly kind: 'command' }>,
): number {
  const asked = checks.find((listed) => isCheckOf(listed, definition));
  return Math.min(definition.timeoutSecs, asked?.timeoutSeconds ?? definition.timeoutSecs);
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((token, index) => token === b[index]);
}
