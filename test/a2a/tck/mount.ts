/**
 * The bindings of the relay over a scripted agent, for the public compatibility suite. It is mounted by tests alone: nobody
 * has to say who they are here, so it starts only where PORTCULLIS_A2A_TCK=1 says that this is wanted.
 */
import express, { type Request, type Response } from 'express';
import { pino } from 'pino';
import { Call } from '../../../gateway/a2a/call.ts';
import { requireExtension, requireVersion, type A2aFront } from '../../../gateway/a2a/front.ts';
import { a2aBindings } from '../../../gateway/a2a/router.ts';
import { STREAM_SETTINGS } from '../../../gateway/a2a/sse.ts';
import type { Principal } from '../../../gateway/authority/authenticate.ts';
import { DEFAULT_LIMITS } from '../../../gateway/limits.ts';
import { gatewayMetrics } from '../../../gateway/metrics.ts';
import { SUITE_EXTENSION, tckCard } from './card.ts';
import { TckHandler } from './handler.ts';

export interface TckMount {
  readonly url: string;
  close(): Promise<void>;
}

const ANYBODY: Principal = {
  schema: 'portcullis/credential/v1',
  id: 'tck',
  tenant: 'tck',
  pair: '',
  role: 'operator',
  use: 'operator',
  workspace: '',
  workspaceGeneration: 0,
  execution: '',
  expiresAt: Number.MAX_SAFE_INTEGER,
  state: 'active',
};

const front = (requiresExtension: boolean): A2aFront => ({
  open: (binding, _req: Request, res: Response) => {
    const gone = new AbortController();
    res.on('close', () => gone.abort());
    return Promise.resolve(
      new Call({ binding, principal: ANYBODY, signal: gone.signal, afterSeq: null, lastEventId: null, pair: null }),
    );
  },
  requireProtocol: (req, res) => {
    requireVersion(req);
    if (requiresExtension) requireExtension(req, res, SUITE_EXTENSION);
  },
  mayGoOn: () => Promise.resolve(true),
});

/** With PORTCULLIS_A2A_TCK_EXTENSION=1 it requires the suite's own extension. @throws when the environment does not ask for it */
export async function startTckMount(
  environment: Readonly<Record<string, string | undefined>>,
  port = 0,
): Promise<TckMount> {
  if (environment['PORTCULLIS_A2A_TCK'] !== '1')
    throw new Error('set PORTCULLIS_A2A_TCK=1 to start what asks nobody who they are');
  const requiresExtension = environment['PORTCULLIS_A2A_TCK_EXTENSION'] === '1';
  const app = express();
  const ctx = { limits: DEFAULT_LIMITS, logger: pino({ level: 'error' }), metrics: gatewayMetrics() };
  const settings = {
    front: front(requiresExtension),
    handler: new TckHandler(),
    cardAt: (base: string) => tckCard(base, requiresExtension),
    publicUrl: null,
    stream: STREAM_SETTINGS,
  };
  app.use(a2aBindings(ctx, settings));
  const server = app.listen(port, '127.0.0.1');
  await new Promise<void>((resolve, reject) => server.once('listening', resolve).once('error', reject));
  const address = server.address();
  const bound = address !== null && typeof address === 'object' ? address.port : port;
  return {
    url: `http://127.0.0.1:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
