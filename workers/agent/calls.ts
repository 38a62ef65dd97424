/** The calls of the harness API, typed, over the workspace's one socket and with the agent's own bearer. */
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { isErrorCode, portcullisError, PortcullisError } from '../../schemas/errors.ts';
import {
  HARNESS_PATHS,
  type ApprovalAnswer,
  type ApprovalAsk,
  type HarnessContext,
  type ReviewAnswer,
  type SubmitAnswer,
  type SubmitPlan,
  type SubmitReady,
  type SubmitSegment,
} from '../../schemas/harness-api.ts';
import { approvalAnswer, contextAnswer, reviewAnswer, submitAnswer } from './answers.schema.ts';

export interface HarnessCalls {
  context(): Promise<HarnessContext>;
  submitPlan(plan: SubmitPlan): Promise<SubmitAnswer>;
  submitSegment(segment: SubmitSegment): Promise<SubmitAnswer>;
  submitReady(ready: SubmitReady): Promise<SubmitAnswer>;
  appendReview(name: string, bytes: Uint8Array): Promise<ReviewAnswer>;
  approve(ask: ApprovalAsk): Promise<ApprovalAnswer>;
  reject(ask: ApprovalAsk): Promise<ApprovalAnswer>;
}

export interface CallSettings {
  readonly gatewaySocket: string;
  readonly bearer: string;
  /** How long to go on trying while the gateway or what stands behind it is away. Milliseconds. */
  readonly patienceMs?: number;
}

const ATTEMPT_MS = 30_000;
const PATIENCE_MS = 60_000;
const PAUSE_MS = 250;
const MAX_ANSWER_BYTES = 512 * 1024;

/** @throws whatever the gateway refuses with, by its code; `gateway_unavailable` when patience ended */
export function harnessCalls(settings: CallSettings): HarnessCalls {
  const call = <T>(method: string, path: string, schema: z.ZodType<T>, body?: unknown) =>
    askJson(settings, method, path, schema, body === undefined ? null : Buffer.from(JSON.stringify(body)));
  return {
    context: () => call('GET', HARNESS_PATHS.context, contextAnswer),
    submitPlan: (plan) => call('POST', HARNESS_PATHS.plan, submitAnswer, plan),
    submitSegment: (segment) => call('POST', HARNESS_PATHS.segment, submitAnswer, segment),
    submitReady: (ready) => call('POST', HARNESS_PATHS.ready, submitAnswer, ready),
    appendReview: (name, bytes) => askJson(settings, 'PUT', HARNESS_PATHS.review(name), reviewAnswer, bytes),
    approve: (ask) => call('POST', HARNESS_PATHS.approve, approvalAnswer, ask),
    reject: (ask) => call('POST', HARNESS_PATHS.reject, approvalAnswer, ask),
  };
}

const kept = z.object({ gatewaySocket: z.string() });
const keptGrant = z.object({ bearer: z.string() });

/** The calls as the agent of this workspace; `directory` is the harness's (`PORTCULLIS_HARNESS`). */
export async function harnessCallsOf(directory: string): Promise<HarnessCalls> {
  try {
    const { gatewaySocket } = kept.parse(JSON.parse(await readFile(join(directory, 'harness.json'), 'utf8')));
    const { bearer } = keptGrant.parse(JSON.parse(await readFile(join(directory, 'grant.json'), 'utf8')));
    return harnessCalls({ gatewaySocket, bearer });
  } catch (thrown) {
    throw portcullisError('setting_invalid', { name: 'PORTCULLIS_HARNESS', reason: 'names no harness' }, thrown);
  }
}

async function askJson<T>(
  settings: CallSettings,
  method: string,
  path: string,
  schema: z.ZodType<T>,
  body: Uint8Array | null,
): Promise<T> {
  const deadline = performance.now() + (settings.patienceMs ?? PATIENCE_MS);
  for (;;) {
    try {
      return schema.parse(JSON.parse(await attempt(settings, method, path, body)));
    } catch (thrown) {
      const error = thrown instanceof PortcullisError ? thrown : portcullisError('internal', {}, thrown);
      // Every call may be repeated, so whatever passes is waited out.
      const passing = error.edge.http === 503 || error.edge.http === 429;
      if (!passing || performance.now() + PAUSE_MS > deadline) throw error;
      await delay(PAUSE_MS);
    }
  }
}

function attempt(settings: CallSettings, method: string, path: string, body: Uint8Array | null): Promise<string> {
  return new Promise((resolve, reject) => {
    const away = (cause: unknown) =>
      reject(portcullisError('gateway_unavailable', { url: settings.gatewaySocket }, cause));
    const outgoing = request({
      socketPath: settings.gatewaySocket,
      method,
      path,
      signal: AbortSignal.timeout(ATTEMPT_MS),
      headers: {
        host: 'gateway',
        authorization: `Bearer ${settings.bearer}`,
        ...(body === null ? {} : { 'content-type': 'application/json', 'content-length': String(body.length) }),
      },
    });
    outgoing.once('error', away);
    outgoing.once('response', (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (part: string) => {
        text += part;
        if (text.length > MAX_ANSWER_BYTES) incoming.destroy();
      });
      incoming.once('error', away);
      incoming.once('end', () => {
        const status = incoming.statusCode ?? 0;
        if (status >= 200 && status < 300) resolve(text);
        else reject(refusalOf(status, text));
      });
    });
    outgoing.end(body ?? undefined);
  });
}

const refusal = z.looseObject({
  error: z.looseObject({
    code: z.string(),
    details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  }),
});

/** The gateway's refusal as it named it. */
function refusalOf(status: number, text: string): PortcullisError {
  const cause = new Error(`the answer was ${status}`);
  try {
    const { error } = refusal.parse(JSON.parse(text));
    if (isErrorCode(error.code)) return portcullisError(error.code, error.details);
  } catch {
    // Said below: whatever is in between does not speak our words.
  }
  return status >= 500
    ? portcullisError('gateway_unavailable', { url: '(a proxy)' }, cause)
    : portcullisError('internal', {}, cause);
}
