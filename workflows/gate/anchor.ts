/**
 * `anchor`: started by a Schedule, it has the gate worker sign where the audit chain stands once it has grown by a hundred
 * entries. The signature stays in Temporal's history and is handed on from round to round (spec/gate.md section 8).
 */
import { proxyActivities, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { GateActivities } from '../../schemas/gate/activities.ts';
import { ANCHOR_EVERY, type AnchorInput, type AnchorOutcome, type AuditAnchor } from '../../schemas/gate/workflow.ts';
import { gateQueue } from '../../schemas/queues.ts';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';
import { anchorOptions } from './options.ts';

export async function anchor({ tenant }: AnchorInput): Promise<AnchorOutcome> {
  upsertSearchAttributes([
    { key: SEARCH_ATTRIBUTES.tenant, value: tenant },
    { key: SEARCH_ATTRIBUTES.waitingOn, value: 'gate' },
  ]);
  const before = lastAnchor(workflowInfo().lastResult);
  const { anchorAudit } = proxyActivities<GateActivities>(anchorOptions(gateQueue(tenant)));
  const fresh = await anchorAudit({ tenant, after: before?.head.n ?? 0, minimum: ANCHOR_EVERY });
  return { anchor: fresh ?? before };
}

/** What the round before returned; `null` for the first one. */
function lastAnchor(result: unknown): AuditAnchor | null {
  return isOutcome(result) ? result.anchor : null;
}

function isOutcome(result: unknown): result is AnchorOutcome {
  return typeof result === 'object' && result !== null && 'anchor' in result;
}
