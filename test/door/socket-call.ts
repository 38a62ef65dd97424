/** HTTP over the unix socket that a workspace is given. */
import { request } from 'node:http';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Call {
  readonly method?: string;
  readonly bearer?: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Over the socket, as a workspace calls. */
export function callSocket(
  socketPath: string,
  path: string,
  { method = 'POST', bearer, body, headers = {} }: Call = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const authorization = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` };
    const outgoing = request(
      { socketPath, path, method, headers: { ...authorization, ...headers }, agent: false },
      (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (part: string) => (text += part));
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text }));
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export function codeOf({ text }: Answer): unknown {
  return (JSON.parse(text) as { error?: { code?: unknown } }).error?.code;
}
