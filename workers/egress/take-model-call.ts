/** A call of a model at this process: answered or refused by name, and logged without what was said in it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { EGRESS_HEADERS, EGRESS_REFUSED_HEADER } from '../../schemas/egress.ts';
import { asPortcullisError, portcullisError } from '../../schemas/errors.ts';
import { MODEL_HEADERS } from '../../schemas/model-route.ts';
import { holdsKey } from './holds-key.ts';
import type { ModelCaller, ModelCallRecord } from './model-call.ts';
import type { EgressSettings } from './settings.ts';

/** Who asked, of which host, what came of it: ids, bytes, status. */
export async function takeModelCall(
  models: ModelCaller,
  { key, logger }: Pick<EgressSettings, 'key' | 'logger'>,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const began = performance.now();
  const record: ModelCallRecord = { host: '', path: '', requestBytes: 0, bytes: 0 };
  let refusal: string | null = null;
  try {
    if (!holdsKey(req.headers[EGRESS_HEADERS.key], key)) throw portcullisError('unauthenticated');
    await models.serve(req, res, record);
  } catch (thrown) {
    const error = asPortcullisError(thrown);
    refusal = error.code;
    if (res.headersSent) {
      // An answer that was cut must not look whole.
      res.destroy();
    } else {
      const { code, message, mend, details } = error;
      const headers = { [EGRESS_REFUSED_HEADER]: code, 'content-type': 'application/json', connection: 'close' };
      res.writeHead(error.edge.http, headers);
      res.end(JSON.stringify({ type: 'error', error: { type: code, code, message, mend, details } }));
    }
    if (error.code === 'internal') logger.error({ err: thrown }, 'a call of a model failed unexpectedly');
  }
  const [holder, credential] = [EGRESS_HEADERS.holder, MODEL_HEADERS.credential].map((name) =>
    String(req.headers[name] ?? '').slice(0, 256),
  );
  const ms = Math.round(performance.now() - began);
  const { statusCode: status } = res;
  logger.info({ holder, credential, method: req.method, ...record, status, refusal, ms }, 'model call');
}
