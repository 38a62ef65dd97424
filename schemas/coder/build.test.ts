import { expect, test } from 'vitest';
import { type AgentState, type BuildState, hasEnded, readiness } from './build.ts';

const agent: AgentState = { id: 'a', name: 'main', parentId: null, status: 'connected', lifecycle: 'ready' };
const build: BuildState = {
  id: 'b',
  workspaceId: 'w',
  number: 1,
  transition: 'start',
  job: 'succeeded',
  jobError: '',
  jobErrorCode: '',
  reason: 'initiator',
  templateVersionId: 'v',
  deadline: null,
  queuePosition: 0,
  queueSize: 0,
  provisionersAvailable: 1,
  agents: [agent],
};

test('ready needs every agent connected and its start script done', () => {
  expect(readiness(build)).toBe('ready');
  expect(readiness(withAgent({ lifecycle: 'starting' }))).toBe('connecting');
  expect(readiness(withAgent({ status: 'connecting', lifecycle: 'created' }))).toBe('connecting');
});

test('a build that is done and has no agent is not ready', () => {
  expect(readiness({ ...build, agents: [] })).toBe('connecting');
});

test.each([{ lifecycle: 'start_error' }, { lifecycle: 'start_timeout' }, { status: 'timeout' }] as const)(
  'an agent with %o never becomes ready',
  (change) => {
    expect(readiness(withAgent(change))).toBe('failed');
  },
);

test('an agent that went away is lost, though its lifecycle still says ready', () => {
  expect(readiness(withAgent({ status: 'disconnected' }))).toBe('lost');
});

test('a sub-agent has no say', () => {
  const sub: AgentState = { ...agent, id: 's', parentId: 'a', status: 'timeout' };
  expect(readiness({ ...build, agents: [agent, sub] })).toBe('ready');
});

test('a job decides before its agents do', () => {
  expect(readiness({ ...build, job: 'running' })).toBe('building');
  expect(readiness({ ...build, job: 'failed' })).toBe('failed');
  expect(readiness({ ...build, job: 'canceled' })).toBe('failed');
  expect(readiness({ ...build, transition: 'stop' })).toBe('not_started');
});

test('a job that is being cancelled has not ended', () => {
  expect([hasEnded('canceling'), hasEnded('unknown'), hasEnded('canceled')]).toEqual([false, false, true]);
});

function withAgent(change: Partial<AgentState>): BuildState {
  return { ...build, agents: [{ ...agent, ...change }] };
}
