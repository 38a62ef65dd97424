/**
 * The anchors of a tenant's audit chain, out of Temporal's histories: the gate worker signs where the chain stands at each decision
 * and every hundred entries, and whoever can rewrite the store cannot rewrite those.
 */
import { defaultPayloadConverter } from '@temporalio/common';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { Client, Connection, isGrpcServiceError } from '@temporalio/client';
import { status } from '@grpc/grpc-js';
import { portcullisError } from '../../schemas/errors.ts';
import { GATE_WORKFLOWS, type AuditAnchor } from '../../schemas/gate/workflow.ts';
import { checkedName } from '../../schemas/names.ts';
import { SEARCH_ATTRIBUTES } from '../../schemas/search-attributes.ts';

export interface TemporalPlace {
  readonly address: string;
  readonly namespace: string;
}

/** Histories that are read side by side. */
const AT_ONCE = 16;
const CONNECT_MS = 5_000;

/** Of the newest `limit` workflows that anchor. @throws `temporal_unavailable` */
export async function readAnchors(
  { address, namespace }: TemporalPlace,
  tenant: string,
  limit: number,
  look: (read: number) => void,
): Promise<readonly AuditAnchor[]> {
  const connection = await Connection.connect({ address, connectTimeout: CONNECT_MS }).catch((thrown: unknown) => {
    throw portcullisError('temporal_unavailable', { reason: `nothing answers at ${address}` }, thrown);
  });
  try {
    const client = new Client({ connection, namespace });
    const workflows = await anchoring(client, tenant, limit);
    const found = new Map<string, AuditAnchor>();
    for (let start = 0; start < workflows.length; start += AT_ONCE) {
      const some = workflows.slice(start, start + AT_ONCE).map((of) => anchorsOf(client, of));
      for (const anchor of (await Promise.all(some)).flat()) found.set(JSON.stringify(anchor), anchor);
      look(Math.min(start + AT_ONCE, workflows.length));
    }
    return [...found.values()];
  } catch (thrown) {
    throw portcullisError('temporal_unavailable', { reason: 'histories cannot be read' }, thrown);
  } finally {
    await connection.close();
  }
}

/** The part of a Temporal client that this reads. */
export interface HistoryReader {
  readonly workflow: {
    getHandle(workflowId: string, runId: string): { fetchHistory(): Promise<History> };
  };
}

export interface Run {
  readonly workflowId: string;
  readonly runId: string;
}

async function anchoring(client: Client, tenant: string, limit: number): Promise<readonly Run[]> {
  const types = [GATE_WORKFLOWS.gate, GATE_WORKFLOWS.anchor].map((type) => `'${type}'`).join(', ');
  const query = `WorkflowType IN (${types}) AND ${SEARCH_ATTRIBUTES.tenant.name} = '${checkedName('tenant', tenant)}'`;
  const runs: Run[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    if (runs.length >= limit) break;
    runs.push({ workflowId, runId });
  }
  return runs;
}

/** One whose history is gone since the list was made has none. */
export async function anchorsOf(client: HistoryReader, { workflowId, runId }: Run): Promise<readonly AuditAnchor[]> {
  const history = await client.workflow
    .getHandle(workflowId, runId)
    .fetchHistory()
    .catch((thrown: unknown) => {
      if (isGrpcServiceError(thrown) && thrown.code === status.NOT_FOUND) return null;
      throw thrown;
    });
  return (history?.events ?? []).flatMap((event) => {
    const payload = event.activityTaskCompletedEventAttributes?.result?.payloads?.[0];
    return payload === undefined ? [] : anchorIn(defaultPayloadConverter.fromPayload(payload));
  });
}

/** What `anchorAudit` answers is one, what `evaluateSubject` answers carries one. */
function anchorIn(result: unknown): readonly AuditAnchor[] {
  if (isAnchor(result)) return [result];
  const inner: unknown = Reflect.get(Object(result), 'anchor');
  return isAnchor(inner) ? [inner] : [];
}

function isAnchor(value: unknown): value is AuditAnchor {
  return Reflect.get(Object(value), 'schema') === 'portcullis/audit-anchor/v1';
}
