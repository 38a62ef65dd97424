/**
 * Guards, each with the smallest edit that takes it away and the test that then must fail. `npm run guards` makes the edits in a
 * copy of the tree, one at a time; `list.test.ts` sees that every edit still fits the code.
 */
import { GIT_GUARDS } from './git.ts';

export interface Guard {
  /** What no longer holds when it is gone. */
  readonly name: string;
  readonly file: string;
  /** Found exactly once in the file. */
  readonly text: string;
  readonly without: string;
  readonly project: 'unit' | 'system' | 'long';
  readonly test: string;
  /** Part of the test's full name. */
  readonly named: string;
}

const SUPERVISOR = { project: 'long', test: 'test/local/supervisor.test.ts' } as const;
const PROCESSES = { project: 'unit', test: 'local/processes.test.ts' } as const;

export const GUARDS: readonly Guard[] = [
  {
    name: 'a pid is believed only with the moment its process started',
    file: 'local/processes.ts',
    text: 'return identify(identity.pid)?.started === identity.started;',
    without: 'return identify(identity.pid) !== null;',
    ...PROCESSES,
    named: 'another process with the pid is not touched',
  },
  {
    name: 'what ignores TERM is killed',
    file: 'local/processes.ts',
    text: "  signal(identity, 'SIGKILL');\n",
    without: '',
    ...PROCESSES,
    named: 'one that ignores TERM is killed after its grace',
  },
  {
    name: 'the lock of the state directory has one holder',
    file: 'local/lock.ts',
    text: '      if (holder !== null) return holder;\n',
    without: '',
    ...PROCESSES,
    named: 'the lock has one holder',
  },
  {
    name: 'a dead holder holds no lock',
    file: 'local/lock.ts',
    text: 'return lives({ pid, started }) ? { pid, started } : null;',
    without: 'return { pid, started };',
    ...PROCESSES,
    named: 'a dead holder is none',
  },
  {
    name: 'a second start joins the running supervisor',
    file: 'local/supervisor/stack.ts',
    text: '  if (holder !== null) return { holder };\n',
    without: '',
    ...SUPERVISOR,
    named: 'is joined by a second start',
  },
  {
    name: 'a part that ends is started again',
    file: 'local/supervisor/part.ts',
    text: '      launched = await this.#startAgain();\n',
    without: '      return;\n',
    ...SUPERVISOR,
    named: 'starts gate again where it was after kill -9',
  },
  {
    name: 'the orphans of a killed supervisor are ended before the next start',
    file: 'local/supervisor/stack.ts',
    text: '    if (before !== null) await this.#reap(before);\n',
    without: '',
    ...SUPERVISOR,
    named: 'goes on from its state after the supervisor was killed',
  },
  {
    name: 'the ports of the last start are used again',
    file: 'local/supervisor/stack.ts',
    text: 'this.#choosePorts(before?.ports ?? this.#options.preferredPorts)',
    without: 'this.#choosePorts(this.#options.preferredPorts)',
    ...SUPERVISOR,
    named: 'goes on from its state after the supervisor was killed',
  },
  {
    name: 'ports that are taken are chosen around',
    file: 'local/ports.ts',
    text: 'port > 0 && !chosen.includes(port) && (await isFree(port))',
    without: 'port > 0 && !chosen.includes(port)',
    ...SUPERVISOR,
    named: 'chooses around ports that are taken',
  },
  {
    name: 'the parts are stopped in order when the supervisor is asked to end',
    file: 'local/supervisor/stack.ts',
    text: "    await this.#stopParts(['gateway',",
    without: "    await Promise.resolve(['gateway',",
    ...SUPERVISOR,
    named: 'ends in order on TERM and on Ctrl-C',
  },
  {
    name: 'a start that fails leaves nothing running',
    file: 'local/supervisor/stack.ts',
    text: '    await supervisor.stop();\n    throw signal.aborted',
    without: '    throw signal.aborted',
    ...SUPERVISOR,
    named: 'whose part cannot start ends the parts that had started',
  },
  {
    name: 'down stops the parts of a supervisor that was killed',
    file: 'local/down.ts',
    text: '    const outcome = await stop(found, ORPHAN_GRACE_MS);\n',
    without: "    const outcome: string = 'ended';\n",
    ...SUPERVISOR,
    named: 'goes on from its state after the supervisor was killed',
  },
  {
    name: 'the state directory is closed to others',
    file: 'local/state.ts',
    text: '    chmodSync(directory, 0o700);\n',
    without: '    chmodSync(directory, 0o755);\n',
    ...SUPERVISOR,
    named: 'keeps state and keys to its owner',
  },
  {
    name: 'a task token opens only with its seal',
    file: 'gateway/door/seal.ts',
    text: '  if (!timingSafeEqual(sealMac(sealKey, binding, token), sealed.subarray(1, HEADER_BYTES))) {',
    without: '  if (sealKey.length === 0) {',
    project: 'system',
    test: 'test/door/door.test.ts',
    named: 'is refused at the door, and the run goes on',
  },
  {
    name: 'a revoked credential answers no task',
    file: 'gateway/door/calls.ts',
    text: "  if (record?.state !== 'active') throw portcullisError('token_unsealed');",
    without: "  if (record === null) throw portcullisError('token_unsealed');",
    project: 'system',
    test: 'test/door/ending.test.ts',
    named: 'has its child killed at once',
  },
  {
    name: 'what the executor says is checked at the door',
    file: 'gateway/door/rpcs.ts',
    text: '      checkReport(request.message(2));\n',
    without: '',
    project: 'system',
    test: 'test/door/statements.test.ts',
    named: 'ends the run as failed when it is no report',
  },
  {
    name: 'an executor polls its own queue only',
    file: 'gateway/door/rpcs.ts',
    text: "  if (name !== executorQueue(binding)) throw portcullisError('queue_foreign');\n",
    without: '',
    project: 'system',
    test: 'test/door/refusals.test.ts',
    named: "is another pair's queue, another kind of queue, another namespace",
  },
  {
    name: 'only an executor polls and answers',
    file: 'gateway/authority/authenticate.ts',
    text: "  requireUse(principal, ['executor'], action);\n",
    without: '',
    project: 'system',
    test: 'test/door/refusals.test.ts',
    named: 'is an agent',
  },
  {
    name: 'the executor runs only what the control worker signed',
    file: 'activities/executor/admit.ts',
    text: 'const action = verifyAction(signed, identity.actionKey);',
    without: 'const { action } = signed;',
    project: 'system',
    test: 'test/executor/admission.test.ts',
    named: 'refuses what another key signed',
  },
  {
    name: 'the executor evaluates the policy for itself',
    file: 'activities/executor/admit.ts',
    text: '  checkPolicy(action, policy);\n',
    without: '',
    project: 'system',
    test: 'test/executor/admission.test.ts',
    named: 'refuses more limits than its own policy gives',
  },
  {
    name: 'the namespace is killed when the grace is over',
    file: 'activities/executor/contained-run.ts',
    text: '    escalation = setTimeout(() => killAll(sandbox), command.graceMs);',
    without: '    escalation = setTimeout(() => {}, command.graceMs);',
    project: 'system',
    test: 'test/executor/containment.test.ts',
    named: 'leaves no process behind when it runs out of time',
  },
  {
    name: 'a lost executor ends the run',
    file: 'workflows/verify/workflow.ts',
    text: '  setHandler(executorLostSignal, () => void (lost = true));',
    without: '  setHandler(executorLostSignal, () => void (lost = false));',
    project: 'long',
    test: 'test/e2e/verify.test.ts',
    named: 'an executor that is killed under way has lost its run',
  },
  {
    name: 'an unpersisted run is persisted until the store keeps it',
    file: 'workflows/verify/workflow.ts',
    text: '    await untilKept.endRun(ending);\n',
    without: '',
    project: 'system',
    test: 'test/workflows/verify.test.ts',
    named: 'while the store is away the run is shown as unpersisted, and ends once it is kept',
  },
  ...GIT_GUARDS,
];
