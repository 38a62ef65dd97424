import { expect, test } from 'vitest';
import type { RecordedTransition, TicketStore } from '../../schemas/ticket/activities.ts';
import { after, planSubmitted, TICKETS, workspaceReleased } from '../../test/support/ticket-fixtures.ts';
import { recordTransition } from './record.ts';

type Write = Parameters<TicketStore['writeTicket']>[1];

async function written(transition: RecordedTransition): Promise<Write> {
  const writes: Write[] = [];
  const tickets: TicketStore = {
    writeTicket: (_, write) => Promise.resolve(void writes.push(write)),
    readTicket: () => Promise.resolve(null),
    markOpen: () => Promise.resolve(),
    forgetOpen: () => Promise.resolve(),
    listOpen: () => Promise.resolve([]),
  };
  await recordTransition({ tickets }, transition);
  const [write] = writes;
  if (write === undefined || writes.length > 1) throw new Error('a transition is one write');
  return write;
}

test('[inv-04] a transition is one write of projection, pair head with its execution, and what happened', async () => {
  const event = planSubmitted()(TICKETS.planning);
  const state = after(TICKETS.planning, planSubmitted());
  const write = await written({ state, event, seq: 7, title: 'One thing' });
  expect(write.record).toMatchObject({ seq: 7, title: 'One thing', state: { phase: 'plan_review' } });
  expect(write.head).toMatchObject({ pair: 'T-048', headSha: state.head, execution: 'e1', generation: 1 });
  expect(write.event).toMatchObject({ ticket: 'T-048', phase: 'plan_review', outcome: 'planSubmitted' });
  expect(write.event.detail).toBe(`planning → plan_review: plan 1 at ${state.head}`);
});

test('a note says which workspace it is about', async () => {
  const event = workspaceReleased(TICKETS.building);
  const state = after(TICKETS.building, workspaceReleased);
  const write = await written({ state, event, seq: 8, title: 'One thing' });
  expect(write.event).toMatchObject({ phase: 'building', outcome: 'workspaceReleased' });
  expect(write.event.detail).toContain('workspace/test/T-048/forge/1');
});
