/** Ends a task: everything in one script, then read back and compared. */
import { portcullisError } from '../../schemas/errors.ts';
import { keysOf } from '../../schemas/keys.ts';
import { isTerminalTaskState } from '../../schemas/verify/task.ts';
import { withChainStep, type ChainStep } from './audit-chain.ts';
import type { StoreConnection } from './connect.ts';
import type { Ending, VerificationPointer } from './port.ts';
import { recordText } from './records/read.ts';
import { END } from './scripts/ending.ts';
import { runScript, unexpectedReply } from './scripts/script.ts';
import { said } from './snapshot.ts';

/** @throws `state_conflict`, `not_found`, `store_unavailable` when what was written does not read back */
export async function endTask(connection: StoreConnection, ending: Ending): Promise<void> {
  const { accepted, event } = ending;
  if (!isTerminalTaskState(event.state) || event.outcome !== ending.result.status) {
    throw portcullisError('internal', {}, new Error('The event of an ending must be terminal and name its outcome.'));
  }
  const keys = keysOf(accepted.request.tenant);
  const resultText = recordText(ending.result);
  const present = await connection.run((redis) => redis.get(keys.result(accepted.taskId)));
  if (present !== null && present !== resultText) throw ended();

  const { answer } = await withChainStep(connection, accepted.request.tenant, ending.audit, (step) =>
    writeEnding(connection, ending, resultText, step),
  );
  switch (answer) {
    case 'ended':
    case 'same':
      return readBack(connection, ending, resultText);
    case 'conflict':
      throw ended();
    case 'missing':
      throw portcullisError('not_found', { what: 'task', id: accepted.taskId });
    default:
      return unexpectedReply([answer]);
  }
}

async function writeEnding(
  connection: StoreConnection,
  ending: Ending,
  resultText: string,
  step: ChainStep,
): Promise<string> {
  const { accepted, result } = ending;
  const { taskId, request, workspaceGeneration } = accepted;
  const keys = keysOf(request.tenant);
  const seat = { pair: request.pair, role: request.executor, workspaceGeneration };
  const pointer: VerificationPointer = {
    schema: 'portcullis/verification-pointer/v1',
    taskId,
    sequence: accepted.sequence,
    requestDigest: accepted.requestDigest,
    status: result.status,
    satisfied: result.satisfied,
  };
  const [answer] = await runScript(
    connection,
    END,
    {
      result: keys.result(taskId),
      verification: keys.verification(request.pair),
      claim: keys.claim(request.pair, accepted.requestDigest),
      waiting: keys.acceptedClaims,
      auditHead: keys.auditHead,
      auditEntry: step.key,
      task: keys.task(taskId),
      events: keys.taskEvents(taskId),
      offsets: keys.taskOffsets(taskId),
      line: keys.queue(seat),
      started: keys.queueStarted(seat),
    },
    {
      ...said(ending.from, ending.event),
      taskId,
      workflowId: accepted.workflowId,
      n: ending.n,
      requestSequence: accepted.sequence,
      resultText,
      pointerText: recordText(pointer),
      reuseMs: Math.max(0, Math.round(ending.reuseSeconds * 1000)),
      expectedHead: step.expectedHead,
      entryText: step.entryText,
      headText: step.headText,
    },
  );
  return answer ?? '';
}

/** Persisted means that an ordinary reply came and that a later read finds the same (DESIGN section 2). */
async function readBack(connection: StoreConnection, { accepted, event }: Ending, resultText: string): Promise<void> {
  const keys = keysOf(accepted.request.tenant);
  const [result, state, outcome] = await connection.run(async (redis) => [
    await redis.get(keys.result(accepted.taskId)),
    ...(await redis.hmget(keys.task(accepted.taskId), 'state', 'outcome')),
  ]);
  if (result !== resultText || state !== event.state || outcome !== event.outcome) {
    throw portcullisError('store_unavailable', { reason: 'what was written does not read back' });
  }
}

function ended() {
  return portcullisError('state_conflict', { what: 'The task, which has another end already,' });
}
