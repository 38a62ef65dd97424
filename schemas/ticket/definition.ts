/** What a ticket asks for: the plain type of a ticket file (`definition.schema.ts` reads one; `examples/tickets/`). */
import type { Method, RiskClass } from '../gate/vocabulary.ts';
import type { WorkspaceRole } from '../workspace/workflow.ts';

export interface TicketCheck {
  /** Id of a check definition (`policies/gates/documents/checks`). */
  readonly check: string;
  /** Must match a command template: `portcullis policy check -- …`. */
  readonly argv: readonly string[];
  readonly timeoutSeconds: number;
}

export interface TicketCriterion {
  readonly id: string;
  /** For people and agents; nothing is decided by it. */
  readonly text: string;
  readonly required: boolean;
  readonly methods: readonly Method[];
}

export interface TicketDefinition {
  readonly schema: 'portcullis/ticket/v1';
  readonly id: string;
  readonly title: string;
  /** What is wanted, in prose. Data for agents. */
  readonly body: string;
  readonly issueUrl: string | null;
  /** Where the work starts and where it lands: a path on this machine, or a remote. */
  readonly repository: { readonly path: string } | { readonly remote: string };
  readonly baseBranch: string;
  /** How many segments the plan is expected to have; a hint for FORGE. */
  readonly segmentsHint: number | null;
  readonly checks: readonly TicketCheck[];
  readonly criteria: readonly TicketCriterion[];
  readonly risk: RiskClass;
  /** Seconds a workspace of the role may live; the registry bounds it again. */
  readonly ttlSeconds: Readonly<Partial<Record<WorkspaceRole, number>>>;
  /** Whether LORE documents the change after the merge. */
  readonly documentation: boolean;
}
