import { ApplicationFailure, ServiceError, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { expect, test } from 'vitest';
import { asPortcullisError } from '../schemas/errors.ts';
import { awayFailure, lostItsTask, orchestratorFailure } from './temporal-failures.ts';

const grpc = (code: number) => Object.assign(new Error('said by gRPC'), { code, details: '', metadata: {} });
const codeOf = (thrown: unknown) => asPortcullisError(orchestratorFailure(thrown, 'T-1')).code;

test.each([1, 2, 4, 14])('gRPC status %s, however wrapped, is that Temporal is away', (code) => {
  const wrapped = new ServiceError('failed', { cause: grpc(code) });
  expect([codeOf(grpc(code)), codeOf(wrapped)]).toEqual(['temporal_unavailable', 'temporal_unavailable']);
});

test('any other answer is no outage', () => {
  const denied = grpc(7);
  expect(awayFailure(denied)).toBe(denied);
});

test('what a validator refused with keeps its code and details', () => {
  const details = { event: 'submitPlan', revision: 1, current: 4 };
  const refused = ApplicationFailure.nonRetryable('stale', 'ticket_stale', details);
  const thrown = orchestratorFailure(new WorkflowUpdateFailedError('rejected', refused), 'T-1');
  expect(thrown).toMatchObject({ code: 'ticket_stale', details });
});

test('a refusal that names no code of ours is a conflict', () => {
  const refused = ApplicationFailure.nonRetryable('unknown', 'something_else');
  expect(codeOf(new WorkflowUpdateFailedError('rejected', refused))).toBe('state_conflict');
});

test('a workflow that is not there is a ticket that is not open', () => {
  expect(codeOf(new WorkflowNotFoundError('none', 'ticket/test/T-1', undefined))).toBe('not_found');
});

test('an update whose task failed under it may be sent again', () => {
  const lost = new ServiceError('failed', { cause: grpc(9) });
  expect([lostItsTask(lost), lostItsTask(grpc(14))]).toEqual([true, false]);
});
