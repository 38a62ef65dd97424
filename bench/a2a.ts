/**
 * The A2A front on the whole local stack: how soon output is at the subscriber, what a resume and a thousand of them at once
 * cost, and how fast requests are admitted. Each beside a bare peer on the same machine in the same run.
 */
import { readFileSync } from 'node:fs';
import { NativeConnection } from '@temporalio/worker';
import { readRepositoryHead } from '../activities/git/bundle.ts';
import { localPairName, openLocalPair } from '../cli/verify/pair.ts';
import { GatewayClient } from '../client/gateway-client.ts';
import type { Endpoint } from '../client/http.ts';
import { readState } from '../local/state.ts';
import { makeRepository, startStack, type Stack } from '../test/e2e/stage.ts';
import { measureAdmission, type AdmissionMeasured } from './a2a/admission.ts';
import { measureFirstChunk } from './a2a/first-chunk.ts';
import { openLoggedTask } from './a2a/logged-task.ts';
import { measureResume, RESUMED } from './a2a/resume.ts';
import { startSsePeer } from './a2a/sse-peer.ts';
import { measureSubscribers, SUBSCRIBERS } from './a2a/subscribers.ts';
import type { Bench, BenchReport } from './support/report.ts';
import { startPeer } from './verify/peer.ts';
import { quietRuntime } from './support/quiet-runtime.ts';

/** Goals of the spec of delegated verification, section 6. */
const FIRST_CHUNK_MS = 150;

export const a2aBench: Bench = {
  name: 'a2a',
  about: 'first output, resume, a thousand subscribers and admission, each beside a bare peer',
  run,
};

async function run(): Promise<BenchReport> {
  quietRuntime();
  const stack = await startStack();
  try {
    const operator = { url: urlOf(stack), bearer: readFileSync(stack.paths.operator, 'utf8').trim() };
    const firstChunk = await measureFirstChunk(stack, operator);
    const streams = await measureStreams(stack, operator);
    const admission = await measureAdmissions(stack);
    const [, chunk] = firstChunk;
    const { resume, subscribers } = streams;
    return {
      comparisons: [resume.comparison, subscribers.comparison, admission.comparison],
      timings: [...firstChunk, resume.paged, subscribers.delivery],
      goals: [
        {
          goal: `first output at the subscriber: median under ${FIRST_CHUNK_MS} ms`,
          measured: `${chunk.ms.median.toFixed(0)} ms`,
          met: chunk.ms.median < FIRST_CHUNK_MS,
        },
        nothingLost(`resumes of ${RESUMED} events`, resume.count),
        nothingLost(`${SUBSCRIBERS} subscribers at once`, subscribers.count),
      ],
      facts: {
        'admitted in a second': Number(admission.perSecond.toFixed(1)),
        'bare workflow starts in a second': Number(admission.peerPerSecond.toFixed(1)),
        'events received by subscribers at once': subscribers.count.received,
        'of the bare SSE server': subscribers.peerCount.received,
      },
    };
  } finally {
    await stack.close();
  }
}

async function measureStreams(stack: Stack, operator: Endpoint) {
  const { pair, reviewer } = await openPair(stack, 'streams');
  const task = await openLoggedTask(stack, pair);
  const peer = await startSsePeer();
  try {
    const resume = await measureResume(task, operator, new GatewayClient(reviewer));
    return { resume, subscribers: await measureSubscribers(task, [operator, reviewer], peer) };
  } finally {
    peer.close();
    await task.close();
  }
}

/** The pair has no executor at the door: what is admitted ends as unavailable, and costs no more than its workflow. */
async function measureAdmissions(stack: Stack): Promise<AdmissionMeasured> {
  const { pair, reviewer } = await openPair(stack, 'admission');
  const temporal = await stack.temporal();
  const native = await NativeConnection.connect({
    address: `127.0.0.1:${readState(stack.paths)?.ports.temporal ?? 0}`,
  });
  const peer = await startPeer(native, temporal.client);
  try {
    return await measureAdmission(new GatewayClient(reviewer), pair, temporal.client);
  } finally {
    await peer.close();
    await native.close();
    await temporal.close();
  }
}

async function openPair(stack: Stack, name: string): Promise<{ readonly pair: string; readonly reviewer: Endpoint }> {
  const head = await readRepositoryHead(makeRepository(stack, name, { Makefile: 'test:\n\t@true\n' }));
  const { pair, codes } = await openLocalPair(stack.operator, head, localPairName(head), 'verifier');
  const { bearer } = await stack.operator.exchangeClaim({ tenant: 'local', code: codes.reviewer });
  return { pair, reviewer: { url: urlOf(stack), bearer } };
}

function urlOf(stack: Stack): string {
  return `http://127.0.0.1:${readState(stack.paths)?.ports.gateway ?? 0}`;
}

function nothingLost(what: string, { lost, repeated, received }: { lost: number; repeated: number; received: number }) {
  return {
    goal: `${what} lose and repeat nothing`,
    measured: `${lost} lost, ${repeated} repeated of ${received}`,
    met: lost === 0 && repeated === 0 && received > 0,
  };
}
