/** `docs/reference/temporal-contract.md`: names and JSON of the ticket workflow, for trusted clients in any language. */
import { ERROR_CATALOGUE } from '../../schemas/errors.ts';
import { ORCHESTRATION_PATHS } from '../../schemas/operator-api.ts';
import { controlQueue } from '../../schemas/queues.ts';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import type { TicketDefinition } from '../../schemas/ticket/definition.ts';
import { TICKET_PHASES, WAITS } from '../../schemas/ticket/phase.ts';
import { ticketStartOptions } from '../../schemas/ticket/start.ts';
import { REFUSAL_CODES, type TicketUpdateOutcome } from '../../schemas/ticket/state.ts';
import { parseDigest } from '../../schemas/digest.ts';
import { ticketUpdateId } from '../../schemas/ticket/update-id.ts';
import {
  TICKET_UPDATES,
  TICKET_WORKFLOW,
  type TicketOutcome,
  type TicketUpdateArguments,
  type TicketUpdateName,
} from '../../schemas/ticket/workflow.ts';
import { cell, markdownTable, page } from './markdown.ts';

const TENANT = 'acme';
const HEAD = 'a'.repeat(40);
const CALLER = { revision: 4, by: 'nexus' };
const ANSWER = { ...CALLER, n: 2, approvalId: 'ap-7', reviewDigest: `sha256:${'7'.repeat(64)}` };

const DEFINITION: TicketDefinition = {
  schema: 'portcullis/ticket/v1',
  id: 'T-048',
  title: 'Tell the level and take tokens back',
  body: 'Callers can ask for `level(time)`.',
  issueUrl: null,
  repository: { remote: 'https://git.example/bucket.git' },
  baseBranch: 'main',
  segmentsHint: 2,
  checks: [{ check: 'npm-test', argv: ['npm', 'test'], timeoutSeconds: 120 }],
  criteria: [{ id: 'tests-pass', text: 'The tests pass.', required: true, methods: ['deterministic'] }],
  risk: 'low',
  ttlSeconds: { forge: 1800 },
  documentation: false,
};

const ARGUMENTS: TicketUpdateArguments = {
  submitPlan: { ...CALLER, commit: HEAD },
  submitSegment: { ...CALLER, n: 1, commit: HEAD },
  submitReady: { ...CALLER, commit: HEAD },
  approve: ANSWER,
  reject: ANSWER,
  decide: { ...CALLER, decision: 'retry', reason: 'the check is there now' },
  decideGate: {
    ...CALLER,
    gate: 'merge',
    subjectDigest: parseDigest('subject', `sha256:${'7'.repeat(64)}`),
    decision: 'approve',
    case: null,
    reason: 'read the diff and the review',
    expiresAt: null,
  },
  resume: { ...CALLER, reason: 'the provider is back' },
  abandon: { ...CALLER, reason: 'no longer wanted' },
};

const MEANINGS: Readonly<Record<TicketUpdateName, string>> = {
  submitPlan: 'FORGE: PLAN.md is at this pushed commit',
  submitSegment: 'FORGE: segment `n` is at this pushed commit',
  submitReady: 'FORGE: every segment has passed; LORE, while documenting: the change is there',
  approve: 'SENTINEL: the review with this digest approves evaluation `n`; an input of the gate',
  reject: 'SENTINEL: it rejects',
  decide: 'an operator: `retry`, `resume` or `abandon`',
  decideGate:
    "a person: `approve`, `reject` or `override` of a `case` at the gate, as evidence; `by` has to be an operator's active credential, and nothing moves before the next evaluation",
  resume: 'an operator: go on in a new execution, which inherits no pass',
  abandon: 'an operator: end it, nothing lands',
};

const TAKEN: TicketUpdateOutcome = { accepted: true, revision: 5, phase: 'plan_review' };
const REFUSED: TicketUpdateOutcome = {
  accepted: false,
  refusal: { code: 'missing_artifact', details: { path: 'PLAN.md' } },
};
const RESULT: TicketOutcome = { ticket: DEFINITION.id, phase: 'done', merged: HEAD };

export function temporalPage(): string {
  const intro =
    'What a trusted client in any language says to Temporal about tickets; in TypeScript `Orchestrator` of the package does it, and `examples/python-client` is a program. Temporal does not know who calls: whoever reaches its frontend may do all of this, so only an orchestrator of your own does, and everybody else goes through the gateway, which checks authority first. Nothing here makes a gate pass. All arguments and results are JSON (encoding `json/plain`).';
  return page('Tickets over Temporal', intro, [starting(), updates(), refusals(), reading()].join('\n\n'));
}

function starting(): string {
  const source = { importId: null, baseSha: null, remote: 'https://git.example/bucket.git' };
  const { workflowId, args } = ticketStartOptions({ tenant: TENANT, definition: DEFINITION, source, by: 'nexus' });
  const rows = [
    ['Workflow type', `\`${TICKET_WORKFLOW}\``],
    ['Workflow id', `\`${workflowId}\`: \`ticket/\`, tenant, \`/\`, ticket`],
    ['Task queue', `\`${controlQueue(TENANT)}\`: \`control/\`, tenant`],
    ['Id reuse policy', 'reject duplicate: a ticket is started once'],
    ['Id conflict policy', 'fail: it is running already, so wait for that one'],
    ['Execution and run time-out', 'none: a time-out ends a workflow without its cleanup'],
  ];
  return [
    '## Start',
    markdownTable(['What', 'Value'], rows),
    'One argument:',
    json(args?.[0]),
    'The workflow does not read the definition again: every member must be there, with the defaults that a ticket file may leave out ([ticket.json](schemas/ticket.json) describes one and its bounds). `source.importId` is the name of an uploaded bundle, `baseSha` the commit to start from, `remote` where the base comes from and the change lands; each may be `null`. `carried` and `historyLimit` are `null`. `by` is shown in history and audit. The kill switch is checked by the gateway and not here: a ticket that is started while it is on stops at the first step that the switch forbids.',
    'The result, when the workflow ends:',
    json(RESULT),
    '`phase` is `done` or `abandoned`; `merged` is the commit that landed, or `null`. A ticket that was cancelled ends as cancelled, after its cleanup.',
  ].join('\n\n');
}

function updates(): string {
  const names = Object.keys(TICKET_UPDATES) as TicketUpdateName[];
  const rows = names.map((name) => [`\`${name}\``, MEANINGS[name], `\`${JSON.stringify(ARGUMENTS[name])}\``]);
  return [
    '## Updates',
    markdownTable(['Name', 'From and meaning', 'Argument'], rows),
    '`revision` is the one of the ticket on which this was decided; once the ticket has moved on, the update is refused. Give the update an id that the same request always gets: a repeat is then answered like the first and done once. Ours is the SHA-256 of the canonical JSON (RFC 8785) of `{"request":…,"update":…}` in hex, such as, for the first row:',
    `\`\`\`\n${ticketUpdateId('submitPlan', ARGUMENTS.submitPlan)}\n\`\`\``,
    'The answer of an update that was taken in:',
    [json(TAKEN), json(REFUSED)].join('\n\n'),
    'gRPC’s `FAILED_PRECONDITION` for an update means that a task of the workflow failed under it, as when something else came in while it ended: send it again with the same id.',
  ].join('\n\n');
}

function refusals(): string {
  const rows = REFUSAL_CODES.map((code) => [`\`${code}\``, cell(ERROR_CATALOGUE[code].message)]);
  return [
    '## Refusals',
    'A refusal that the ticket’s state alone decides rejects the update: the failure’s cause is an application failure whose type is the code, with the details as its first detail. One that took a look at the repository is an answer with `accepted: false`.',
    markdownTable(['Code', 'Sentence'], rows),
  ].join('\n\n');
}

function reading(): string {
  const attributes = Object.values(SEARCH_ATTRIBUTES).map(({ name }) => `\`${name}\``);
  return [
    '## Reading',
    `Where a ticket stands is in its search attributes (${attributes.join(', ')}, all keywords), which \`DescribeWorkflowExecution\` and lists show without a worker. Lists lag about a second. \`Phase\` is one of ${words(TICKET_PHASES)}; \`WaitingOn\` one of ${words(WAITS)}, and \`control\` or \`repository\` before it is open.`,
    `The whole state, with its revision, is read at the gateway (\`GET ${ORCHESTRATION_PATHS.ticket(DEFINITION.id)}\`), whose projection outlives Temporal’s retention. The query \`ticketState\` is for debugging; do not poll it.`,
  ].join('\n\n');
}

function words(known: readonly string[]): string {
  return known.map((word) => `\`${word}\``).join(', ');
}

function json(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
}
