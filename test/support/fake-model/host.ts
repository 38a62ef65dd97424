/**
 * A fake model host for tests and trials: it speaks Anthropic's Messages and OpenAI's Responses and Chat Completions, in one piece
 * or as events, and thinks nothing. Asked with a tool that runs commands it has one command run, and then says what that printed.
 *
 * @example const host = await startFakeModelHost({ command: 'portcullis context' }); host.url; host.key
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { answerChat, answerMessages, answerResponses, type Decide } from './dialects.ts';

export interface FakeModelHost {
  /** Without a slash at its end. */
  readonly url: string;
  /** What it takes for a key, in `x-api-key` or as a bearer. */
  readonly key: string;
  readonly asked: AskedCall[];
  /** Takes the place of the answer of every call from now on; `null`: as itself again. */
  answerWith: ((req: IncomingMessage, res: ServerResponse, body: Buffer) => void) | null;
  close(): Promise<void>;
}

export interface AskedCall {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

export interface FakeModelSettings {
  /** What the one tool call of a turn runs in the shell. */
  readonly command: string;
  readonly port?: number;
}

export async function startFakeModelHost({ command, port = 0 }: FakeModelSettings): Promise<FakeModelHost> {
  const key = `fake-model-key-${randomBytes(18).toString('base64url')}`;
  const decide: Decide = ({ hasShell, toolOutput }) => {
    if (toolOutput !== null) return { say: toolOutput.trim() === '' ? 'It printed nothing.' : toolOutput };
    return hasShell ? { run: command } : { say: 'There is nothing to be said.' };
  };
  const server = createServer((req, res) => void serve(req, res).catch(() => res.destroy()));

  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await buffer(req);
    const document: unknown = body.length === 0 ? null : JSON.parse(body.toString('utf8'));
    const { method = '', url: target = '', headers } = req;
    host.asked.push({ method, target, headers, body: document });
    if (host.answerWith !== null) {
      host.answerWith(req, res, body);
      return;
    }
    if (headers['x-api-key'] !== key && headers.authorization !== `Bearer ${key}`) {
      res.writeHead(401, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ type: 'error', error: { type: 'authentication_error', message: 'invalid key' } }));
      return;
    }
    const [path] = target.split('?');
    if (path === '/v1/messages') answerMessages(res, document, decide);
    else if (path === '/v1/messages/count_tokens') json(res, { input_tokens: 10 });
    else if (path === '/v1/responses') answerResponses(res, document, decide);
    else if (path === '/v1/chat/completions') answerChat(res, document, decide);
    else if (path === '/v1/models')
      json(res, { object: 'list', data: [{ id: 'fake', object: 'model', type: 'model' }] });
    else res.writeHead(404).end();
  }

  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address();
  const bound = address === null || typeof address === 'string' ? 0 : address.port;
  const host: FakeModelHost = {
    url: `http://127.0.0.1:${bound}`,
    key,
    asked: [],
    answerWith: null,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return host;
}

function json(res: ServerResponse, value: unknown): void {
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
