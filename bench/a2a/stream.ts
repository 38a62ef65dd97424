/** Reads numbered server-sent events, of ours and of a peer alike, and counts what was lost or came twice. */
import { open, type Endpoint } from '../../client/http.ts';
import { serverEvents } from '../../client/sse.ts';
import { A2A_HEADERS, VERIFY_EXTENSION } from '../../schemas/verify/a2a.ts';

const SILENCE_MS = 45_000;

export interface Subscription {
  readonly endpoint: Endpoint;
  readonly path: string;
  /** The last event the subscriber has. */
  readonly after: number;
  /** The last event it waits for. */
  readonly until: number;
  /** Called for each numbered event, as it comes. */
  readonly onEvent?: (seq: number, data: string) => void;
}

export interface Count {
  lost: number;
  repeated: number;
  received: number;
}

/** Reads from one position to another over one connection. @throws `stream_cut` when it ends before that */
export async function readNumbered({ endpoint, path, after, until, onEvent }: Subscription): Promise<Count> {
  const headers = {
    [A2A_HEADERS.version]: '1.0',
    [A2A_HEADERS.extensions]: VERIFY_EXTENSION,
    'Last-Event-ID': String(after),
  };
  const response = await open(endpoint, { method: 'GET', path, headers, timeoutMs: SILENCE_MS });
  const count: Count = { lost: 0, repeated: 0, received: 0 };
  let last = after;
  let first = true;
  for await (const { id, data } of serverEvents(response, SILENCE_MS)) {
    // The snapshot carries the position that was asked from; it is no event.
    if (first || id === null) {
      first = false;
      continue;
    }
    count.received += 1;
    if (id <= last) count.repeated += 1;
    else count.lost += id - last - 1;
    last = Math.max(last, id);
    onEvent?.(id, data);
    if (last >= until) break;
  }
  count.lost += until - last;
  return count;
}

export function sumOf(counts: readonly Count[]): Count {
  return counts.reduce(
    (sum, { lost, repeated, received }) => ({
      lost: sum.lost + lost,
      repeated: sum.repeated + repeated,
      received: sum.received + received,
    }),
    { lost: 0, repeated: 0, received: 0 },
  );
}
