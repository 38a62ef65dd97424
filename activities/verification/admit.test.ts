import { expect, test } from 'vitest';
import type { CheckAdmission } from '../../schemas/verification/activities.ts';
import { ticketDefinition } from '../../test/workflows/ticket-stage.ts';
import { requestOf } from './admit.ts';

const admission = (timeoutSeconds: number): CheckAdmission => ({
  parameters: {
    tenant: 'local',
    ticket: 'T-1',
    gate: 'merge',
    execution: { id: 'e1', generation: 1 },
    stateRevision: 9,
    round: 1,
    plan: { revision: 1, digest: `sha256:${'e'.repeat(64)}`, commit: '1'.repeat(40) },
    segment: null,
    change: { base: '2'.repeat(40), head: '3'.repeat(40) },
    branchHead: '4'.repeat(40),
    producer: { run: 'workspace/local/T-1/forge/1' },
    definition: {
      ...ticketDefinition('T-1', false),
      checks: [{ check: 'npm-test', argv: ['npm', 'test'], timeoutSeconds }],
    },
    priorBlockers: [],
  },
  checkId: 'tests',
  definition: {
    schema: 'portcullis/check-definition/v1',
    kind: 'command',
    template: 'npm-test',
    argv: ['npm', 'test'],
    cwd: 'repo',
    expectExitCode: 0,
    timeoutSecs: 600,
    artifacts: [],
  },
  attempt: 1,
  askedBy: 'verification/local/0/1',
});

test.each([
  [45, 45],
  [600, 600],
  [3_600, 600],
])('a ticket that gives its check %i s has it run for at most %i s', (asked, given) => {
  expect(requestOf(admission(asked))).toMatchObject({ argv: ['npm', 'test'], timeoutSecs: given });
});
