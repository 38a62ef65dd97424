/** What agents submit: looked at in our own git before the ticket hears of it. */
import { proxyActivities } from '@temporalio/workflow';
import { hangsOnBase } from '../../policies/tickets/rejected.ts';
import type { GitActivities } from '../../schemas/git/activities.ts';
import { branchOf } from '../../schemas/git/refs.ts';
import type { TicketActivities } from '../../schemas/ticket/activities.ts';
import type { RejectedWork, TicketState } from '../../schemas/ticket/state.ts';
import type { TicketUpdateArguments } from '../../schemas/ticket/workflow.ts';
import { decidedBy, type Prepared } from './answering.ts';
import { ANSWERING } from './options.ts';
import type { Session } from './session.ts';

const { readPlan } = proxyActivities<TicketActivities>(ANSWERING);
const { checkPushed, fetchBase } = proxyActivities<GitActivities>(ANSWERING);

const missing = (path: string): Prepared => ({ refusal: { code: 'missing_artifact', details: { path } } });

export async function planSubmitted(session: Session, request: TicketUpdateArguments['submitPlan']): Promise<Prepared> {
  const { tenant, ticketId, base } = session.state;
  const { commit } = request;
  const pushed = await pushedTree(session, 'forge', commit, base);
  if ('missing' in pushed) return missing(pushed.missing);
  const plan = await readPlan({ tenant, ticket: ticketId, commit });
  if (!plan.found) return missing(plan.reason);
  const { digest, segments } = plan;
  return { event: { ...decidedBy(request), type: 'planSubmitted', plan: { commit, digest, segments } } };
}

export async function segmentSubmitted(
  session: Session,
  request: TicketUpdateArguments['submitSegment'],
): Promise<Prepared> {
  const { commit, n } = request;
  const pushed = await pushedTree(session, 'forge', commit, session.state.segment?.base ?? session.state.base);
  if ('missing' in pushed) return missing(pushed.missing);
  const base = await baseOf(session, { commit, content: pushed.tree });
  return { event: { ...decidedBy(request), type: 'segmentSubmitted', n, head: commit, tree: pushed.tree, base } };
}

/** Where the base branch is, for work whose tests failed on an earlier one; `null` for all other. */
async function baseOf({ state, input }: Session, work: Omit<RejectedWork, 'base'>): Promise<string | null> {
  if (!hangsOnBase(state, work)) return null;
  const { tenant, ticketId: pair, base: initial } = state;
  const { source, definition } = input;
  return (await fetchBase({ tenant, pair, remote: source.remote, branch: definition.baseBranch, initial })).commit;
}

export function readyType({ phase }: TicketState): 'documentationSubmitted' | 'readySubmitted' {
  return phase === 'documenting' ? 'documentationSubmitted' : 'readySubmitted';
}

export async function readySubmitted(
  session: Session,
  request: TicketUpdateArguments['submitReady'],
): Promise<Prepared> {
  const { commit: head } = request;
  const type = readyType(session.state);
  if (type === 'readySubmitted') return { event: { ...decidedBy(request), type, head } };
  const pushed = await pushedTree(session, 'lore', head, session.state.merge?.candidate ?? session.state.base);
  if ('missing' in pushed) return missing(pushed.missing);
  return { event: { ...decidedBy(request), type, head } };
}

/** The commit's tree. Only what was pushed to the role's own branch, on top of what was accepted before, can be submitted. */
async function pushedTree(
  session: Session,
  role: 'forge' | 'lore',
  commit: string,
  after: string,
): Promise<{ readonly tree: string } | { readonly missing: string }> {
  const { tenant, ticketId, branch: own } = session.state;
  const branch = branchOf(role, ticketId) ?? own;
  const pushed = await checkPushed({ tenant, pair: ticketId, commit, branch, after });
  return pushed.pushed ? pushed : { missing: `${commit} on ${branch} (${pushed.reason})` };
}
