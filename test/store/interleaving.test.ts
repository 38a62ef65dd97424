import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectStore, type StoreConnection } from '../../activities/store/connect.ts';
import { controlStore } from '../../activities/store/control.ts';
import { gatewayStore } from '../../activities/store/gateway.ts';
import type { Admission, ControlStore, GatewayStore } from '../../activities/store/port.ts';
import { requestDigest } from '../../schemas/verify/request.ts';
import { REUSABLE_STATUSES, type VerifyStatus } from '../../schemas/verify/result.ts';
import { isTerminalTaskState, type TaskEvent } from '../../schemas/verify/task.ts';
import { describeStores } from '../support/store-kinds.ts';
import { startStoreServer, type StoreServer } from '../support/store-server.ts';
import { admissionOf, endingOf, resolvedRequest } from '../support/task-fixtures.ts';

type Step =
  | { readonly do: 'admit'; readonly request: number; readonly message: number }
  | { readonly do: 'confirm' | 'release'; readonly task: number }
  | { readonly do: 'append'; readonly task: number; readonly source: string; readonly offset: number }
  | { readonly do: 'end'; readonly task: number; readonly status: VerifyStatus };

const task = fc.nat(5);
const admitStep = fc.record({ do: fc.constant('admit' as const), request: fc.nat(2), message: fc.nat(7) });
const appendStep = fc.record({
  do: fc.constant('append' as const),
  task,
  source: fc.constantFrom('control', 'stdout', 'stderr'),
  offset: fc.nat(6),
});
const endStep = fc.record({
  do: fc.constant('end' as const),
  task,
  status: fc.constantFrom<VerifyStatus>('completed', 'timed_out', 'executor_lost', 'cancelled', 'rejected'),
});
const markStep = fc.record({ do: fc.constantFrom('confirm' as const, 'release' as const), task });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: admitStep },
  { weight: 5, arbitrary: appendStep },
  { weight: 2, arbitrary: endStep },
  { weight: 1, arbitrary: markStep },
);
/** Steps of one batch run at once. */
const batches = fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 10 });

describeStores('random interleavings of admissions, events and endings', ({ program }) => {
  let server: StoreServer;
  let connections: readonly StoreConnection[];
  let gateways: readonly GatewayStore[];
  let control: ControlStore;
  let pairs = 0;

  beforeAll(async () => {
    server = await startStoreServer({ program });
    const users = ['gateway', 'gateway', 'control'] as const;
    connections = await Promise.all(users.map((user) => connectStore(server.settings(user))));
    gateways = [gatewayStore(connections[0]!), gatewayStore(connections[1]!)];
    control = controlStore(connections[2]!);
  });
  afterAll(async () => {
    await Promise.all(connections.map((connection) => connection.close()));
    await server.close();
  });

  test('[inv-08] [inv-09] keep one run for what was sent twice, gapless numbers, absorbing ends, the newest pointer', async () => {
    await fc.assert(
      fc.asyncProperty(batches, async (program) => {
        const pair = `P-${(pairs += 1)}`;
        const history = new History(pair);
        for (const batch of program) await Promise.all(batch.map((one, index) => run(one, index, history)));
        await history.check(gateways[0]!, control);
      }),
      { numRuns: 60 },
    );
  });

  async function run(one: Step, index: number, history: History): Promise<void> {
    const gateway = gateways[index % 2]!;
    if (one.do === 'admit') {
      const request = resolvedRequest({ pair: history.pair, attempt: one.request + 1 });
      const view = await gateway.viewClaim('local', history.pair, requestDigest(request));
      const admission = admissionOf(request, view, `${history.pair}-${one.message}`);
      const outcome = await gateway.admit(admission);
      if (outcome.kind === 'accepted') history.admissions.push(admission);
      if (outcome.kind === 'accepted' || outcome.kind === 'joined') {
        history.answered(`${one.message}`, outcome.taskId);
      }
      return;
    }
    const admission = history.admissions[one.task];
    if (admission === undefined) return;
    const { accepted, message } = admission;
    switch (one.do) {
      case 'confirm':
        return gateway.confirmStarted(accepted);
      case 'release':
        return gateway.releaseClaim(accepted, message.hash);
      case 'append': {
        const event: TaskEvent = { type: 'output', stream: 'stdout', chunk: one.offset, bytes: 1 };
        const seq = await gateway.appendEvent('local', accepted.taskId, one, event);
        if (seq !== null) history.appended(accepted.taskId, `${one.source}:${one.offset}`, seq, event);
        return;
      }
      case 'end': {
        const ended = await control.endTask(endingOf(admission, one.status)).then(
          () => true,
          (thrown: unknown) => {
            expect(thrown).toMatchObject({ code: 'state_conflict' });
            return false;
          },
        );
        if (ended) history.ended(accepted.taskId, one.status);
      }
    }
  }
});

/** What the store acknowledged, and what must hold of it. */
class History {
  readonly pair: string;
  readonly admissions: Admission[] = [];
  readonly #tasksOfMessage = new Map<string, Set<string>>();
  readonly #appended = new Map<string, Map<string, { seq: number; event: TaskEvent }>>();
  readonly #endings = new Map<string, Set<VerifyStatus>>();

  constructor(pair: string) {
    this.pair = pair;
  }

  answered(message: string, taskId: string): void {
    this.#tasksOfMessage.set(message, (this.#tasksOfMessage.get(message) ?? new Set()).add(taskId));
  }

  appended(taskId: string, at: string, seq: number, event: TaskEvent): void {
    const events = this.#appended.get(taskId) ?? new Map<string, { seq: number; event: TaskEvent }>();
    expect(events.get(at)?.seq ?? seq, 'a repeated event keeps its number').toBe(seq);
    this.#appended.set(taskId, events.set(at, { seq, event }));
  }

  ended(taskId: string, status: VerifyStatus): void {
    this.#endings.set(taskId, (this.#endings.get(taskId) ?? new Set()).add(status));
  }

  async check(gateway: GatewayStore, control: ControlStore): Promise<void> {
    const sequences = this.admissions.map(({ accepted }) => accepted.sequence).toSorted((a, b) => a - b);
    expect(sequences).toEqual(sequences.map((_, index) => index + 1));
    for (const admission of this.admissions) await this.#checkTask(admission, gateway);
    for (const taskIds of this.#tasksOfMessage.values()) await checkMessage([...taskIds], gateway);
    await this.#checkRuns(gateway);
    await this.#checkPointer(control);
  }

  async #checkTask({ accepted: { taskId } }: Admission, gateway: GatewayStore): Promise<void> {
    const snapshot = await gateway.readTask('local', taskId);
    const events = await gateway.readEvents('local', taskId, 0, 1_000);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(snapshot?.seq).toBe(events.length);
    const ends = events.filter(({ event }) => event.type === 'status' && isTerminalTaskState(event.state));
    expect(ends.length).toBeLessThanOrEqual(1);
    if (ends.length === 1) expect(ends[0]).toEqual(events.at(-1));
    for (const { seq, event } of this.#appended.get(taskId)?.values() ?? []) {
      expect(events[seq - 1]?.event, 'an acknowledged event is where it was said to be').toEqual(event);
    }
    const acknowledged = this.#endings.get(taskId) ?? new Set();
    expect(acknowledged.size, 'only one end is ever acknowledged').toBeLessThanOrEqual(1);
    const result = await gateway.readResult('local', taskId);
    expect(result === null ? [] : [result.status]).toEqual([...acknowledged]);
    if (result !== null) expect(snapshot?.outcome).toBe(result.status);
  }

  /** Of one request each run but the newest has an end that is no answer. */
  async #checkRuns(gateway: GatewayStore): Promise<void> {
    const byDigest = Map.groupBy(this.admissions, ({ accepted }) => accepted.requestDigest);
    for (const admissions of byDigest.values()) {
      const runs = admissions.toSorted((a, b) => a.n - b.n);
      expect(runs.map(({ n }) => n)).toEqual(runs.map((_, index) => index + 1));
      for (const { accepted } of runs.slice(0, -1)) {
        const snapshot = await gateway.readTask('local', accepted.taskId);
        expect(snapshot?.outcome, 'a run that was repeated had ended').not.toBeNull();
        expect(REUSABLE_STATUSES).not.toContain(snapshot?.outcome);
      }
    }
  }

  async #checkPointer(control: ControlStore): Promise<void> {
    const ended = this.admissions
      .filter(({ accepted }) => {
        const [status] = this.#endings.get(accepted.taskId) ?? [];
        return status !== undefined && status !== 'rejected';
      })
      .map(({ accepted }) => accepted.sequence);
    const pointer = await control.readVerification('local', this.pair);
    expect(pointer?.sequence ?? 0).toBe(Math.max(0, ...ended));
  }
}

/** One message has one task, unless the start of the earlier one failed and freed it. */
async function checkMessage(taskIds: readonly string[], gateway: GatewayStore): Promise<void> {
  const tasks = await Promise.all(taskIds.map((taskId) => gateway.readTask('local', taskId)));
  const kept = tasks.filter((one) => one?.outcome !== 'failed_to_start');
  expect(kept.length).toBeLessThanOrEqual(1);
}
