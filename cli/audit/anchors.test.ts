import { Metadata, status } from '@grpc/grpc-js';
import { defaultPayloadConverter } from '@temporalio/common';
import { expect, test } from 'vitest';
import { anchorsOf, type HistoryReader } from './anchors.ts';

const RUN = { workflowId: 'gate/local/x/plan/1', runId: 'r' };
const ANCHOR = {
  schema: 'portcullis/audit-anchor/v1',
  tenant: 'local',
  head: { n: 3, digest: 'sha256:1' },
  signature: 's',
  keyId: 'k',
};

/** A client whose only history holds these results of activities. */
function holding(results: readonly unknown[]): HistoryReader {
  const events = results.map((result) => ({
    activityTaskCompletedEventAttributes: { result: { payloads: [defaultPayloadConverter.toPayload(result)] } },
  }));
  return { workflow: { getHandle: () => ({ fetchHistory: () => Promise.resolve({ events: [{}, ...events] }) }) } };
}

function failing(code: status): HistoryReader {
  const thrown = Object.assign(new Error('refused'), { code, details: '', metadata: new Metadata() });
  return { workflow: { getHandle: () => ({ fetchHistory: () => Promise.reject(thrown) }) } };
}

test('an anchor is read where it is the answer, and where the answer carries it', async () => {
  expect(await anchorsOf(holding([ANCHOR]), RUN)).toEqual([ANCHOR]);
  expect(await anchorsOf(holding([{ decision: 'pass', anchor: ANCHOR }]), RUN)).toEqual([ANCHOR]);
  expect(await anchorsOf(holding([null, 'text', { anchor: null }, { anchor: 'none' }]), RUN)).toEqual([]);
});

test('a history that is gone since the list was made has none; one that cannot be read is no such', async () => {
  expect(await anchorsOf(failing(status.NOT_FOUND), RUN)).toEqual([]);
  await expect(anchorsOf(failing(status.UNAVAILABLE), RUN)).rejects.toMatchObject({ code: status.UNAVAILABLE });
});
