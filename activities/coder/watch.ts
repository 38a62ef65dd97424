/** The watch stream, as hints: server-sent events whose data is not read, since a read tells more and is never old. */
import { portcullisError } from '../../schemas/errors.ts';
import type { CallOptions } from './port.ts';
import { readRefusal, refusalError } from './refusal.ts';
import type { CoderSettings } from './settings.ts';

const OPERATION = 'watch workspace';
/** Enough for the name of an event; the data behind it can be tens of kilobytes and is dropped. */
const LINE_HEAD = 64;

export async function* watch(
  settings: CoderSettings,
  workspaceId: string,
  { signal }: CallOptions = {},
): AsyncGenerator<'changed', void, void> {
  const connecting = AbortSignal.timeout(settings.timeoutMs);
  const abort = new AbortController();
  const give = () => abort.abort(connecting.reason);
  connecting.addEventListener('abort', give, { once: true });
  const signals = signal === undefined ? [abort.signal] : [signal, abort.signal];
  try {
    const url = new URL(`/api/v2/workspaces/${encodeURIComponent(workspaceId)}/watch`, settings.url);
    const response = await fetch(url, {
      headers: { Accept: 'text/event-stream', 'Coder-Session-Token': settings.token },
      redirect: 'error',
      signal: AbortSignal.any(signals),
    });
    // Only the connecting has a limit: the stream is quiet for as long as nothing changes.
    connecting.removeEventListener('abort', give);
    if (!response.ok) throw refusalError(OPERATION, readRefusal(response, await response.json().catch(() => null)));
    if (response.body === null) return;
    for await (const event of eventNames(response.body)) if (event === 'data') yield 'changed';
  } catch (thrown) {
    signal?.throwIfAborted();
    if (thrown instanceof TypeError || (thrown instanceof Error && thrown.name === 'TimeoutError')) {
      throw portcullisError('coder_unavailable', { operation: OPERATION, reason: 'the stream broke' }, thrown);
    }
    throw thrown;
  } finally {
    connecting.removeEventListener('abort', give);
    abort.abort();
  }
}

/** The names of the events, each when its empty line has come. Keeps only the head of each line. */
export async function* eventNames(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const decoder = new TextDecoder();
  let line = '';
  let name = 'message';
  let hasField = false;
  for await (const bytes of body) {
    const parts = decoder.decode(bytes, { stream: true }).split('\n');
    for (const [index, part] of parts.entries()) {
      if (line.length < LINE_HEAD) line += part.slice(0, LINE_HEAD);
      if (index === parts.length - 1) break;
      const text = line.trimEnd();
      line = '';
      if (text.startsWith('event:')) name = text.slice('event:'.length).trim();
      if (text !== '') hasField = true;
      else if (hasField) {
        yield name;
        name = 'message';
        hasField = false;
      }
    }
  }
}
