/** A typed client over one of our documents: authentication, request ids, time-outs, rate limits. */
import { randomUUID } from 'node:crypto';
import createClient, { type Client, type Middleware } from 'openapi-fetch';
import { boundedFetch } from './bounded-fetch.ts';
import type { paths as ChatPaths } from './openapi/chats.ts';
import type { paths as CoderPaths } from './openapi/coder.ts';
import type { CoderSettings } from './settings.ts';

export type CoderClient = Client<CoderPaths>;
export type ChatClient = Client<ChatPaths>;

export function coderClient(settings: CoderSettings): CoderClient {
  const client = createClient<CoderPaths>({ baseUrl: settings.url, fetch: boundedFetch(settings) });
  client.use(authentication(settings.token), exchanges(settings));
  return client;
}

export function chatClient(settings: CoderSettings): ChatClient {
  const client = createClient<ChatPaths>({ baseUrl: settings.url, fetch: boundedFetch(settings) });
  client.use(authentication(settings.token), exchanges(settings));
  return client;
}

function authentication(token: string): Middleware {
  return {
    onRequest({ request }) {
      request.headers.set('Coder-Session-Token', token);
    },
  };
}

/** Each request gets an id of ours; the server makes its own and never echoes ours, so both are told. */
function exchanges({ onExchange }: CoderSettings): Middleware {
  return {
    onRequest({ request }) {
      request.headers.set('X-Request-Id', randomUUID());
    },
    // Whatever the observer returns would be taken for another response.
    onResponse({ request, response, schemaPath }) {
      onExchange({
        id: request.headers.get('X-Request-Id') ?? '',
        method: request.method,
        path: schemaPath,
        status: response.status,
        serverRequestId: response.headers.get('X-Coder-Request-Id'),
        serverVersion: response.headers.get('X-Coder-Build-Version'),
      });
    },
  };
}
