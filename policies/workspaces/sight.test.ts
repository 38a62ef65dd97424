import { expect, test } from 'vitest';
import { canonicalText } from '../../schemas/canonical.ts';
import type { AgentState, BuildState } from '../../schemas/coder/build.ts';
import type { WorkspaceReading } from '../../schemas/coder/workspace.ts';
import { provisionSight } from './sight.ts';

const agent: AgentState = { id: 'a', name: 'main', parentId: null, status: 'connected', lifecycle: 'ready' };

function readingOf(change: Partial<BuildState> = {}): WorkspaceReading {
  return {
    seen: 'present',
    workspace: {
      id: 'w',
      name: 'forge-1',
      ownerId: 'u',
      ownerName: 'portcullis',
      organizationId: 'o',
      templateId: 't',
      templateName: 'development',
      ttlMs: 60_000,
      dormant: false,
      build: {
        id: 'b',
        workspaceId: 'w',
        number: 1,
        transition: 'start',
        job: 'succeeded',
        jobError: '',
        jobErrorCode: '',
        reason: 'initiator',
        templateVersionId: 'v',
        deadline: '2026-12-01T00:00:00Z',
        queuePosition: 0,
        queueSize: 0,
        provisionersAvailable: 1,
        agents: [agent],
        ...change,
      },
    },
  };
}

test('ready is agent, start script and, where there is an executor, its presence at the door', () => {
  expect(provisionSight(readingOf(), null).step).toBe('ready');
  expect(provisionSight(readingOf(), 'not_there').step).toBe('door');
  expect(provisionSight(readingOf(), 'there').step).toBe('ready');
});

test('without a deadline at Coder there is no backstop, and it does not count as ready', () => {
  expect(provisionSight(readingOf({ deadline: null }), 'there')).toMatchObject({
    step: 'failed',
    reason: 'no_backstop',
  });
});

test('queueing is a wait with a place, though a read of a pending build says that no provisioner could take it', () => {
  const queued = { job: 'pending', queuePosition: 2, queueSize: 3 } as const;
  expect(provisionSight(readingOf(queued), null)).toMatchObject({
    step: 'queued',
    detail: "place 2 of 3 in Coder's queue",
  });
  expect(provisionSight(readingOf({ ...queued, provisionersAvailable: 0 }), null).step).toBe('queued');
});

test.each([
  [{ job: 'failed', jobErrorCode: 'INSUFFICIENT_QUOTA' }, 'insufficient_quota'],
  [{ job: 'canceled' }, 'build_canceled'],
  [{ transition: 'stop' }, 'not_running'],
  [{ agents: [{ ...agent, lifecycle: 'start_error' }] }, 'start_error'],
  [{ agents: [{ ...agent, status: 'timeout', lifecycle: 'created' }] }, 'agent_timeout'],
] as const)('%o is the end, by name', (change, reason) => {
  expect(provisionSight(readingOf(change), null)).toMatchObject({ step: 'failed', reason });
});

test('[inv-19] what Coder said is cut so that a record can hold it', () => {
  const jobError = `${'x'.repeat(299)}\u{1f600} and more`;
  const sight = provisionSight(
    readingOf({ job: 'failed', jobError, jobErrorCode: `${'E'.repeat(63)}\u{1f600}` }),
    null,
  );
  expect(() => canonicalText(sight)).not.toThrow();
});

test('what Coder does not show, or has deleted, is never ready', () => {
  expect(provisionSight({ seen: 'deleted' }, null)).toMatchObject({ step: 'failed', reason: 'gone' });
  expect(provisionSight({ seen: 'unseen' }, null)).toMatchObject({ step: 'failed', reason: 'unseen' });
});
