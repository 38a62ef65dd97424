import { buffer } from 'node:stream/consumers';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { asPortcullisError } from '../../schemas/errors.ts';
import type { OutputStream } from '../../schemas/keys.ts';
import type { TaskAnswer } from '../../schemas/operator-api.ts';
import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import { table, type Output } from '../output.ts';
import { verdictLine } from '../verify/render.ts';

/** @throws `not_found` */
export async function showTask(context: CliContext, id: string): Promise<number> {
  const client = operatorClient(context);
  let answer: TaskAnswer;
  try {
    answer = await client.showTask(id);
  } catch (thrown) {
    return await showRefused(context, client, id, thrown);
  }
  const { task, request, result } = answer;
  context.output.result('Task', { task, request, result }, taskText({ task, request, result }, context.output));
  return 0;
}

/** A request that policy refused left no record of a task; its id alone still tells what became of it. */
async function showRefused(
  { output }: CliContext,
  client: GatewayClient,
  id: string,
  thrown: unknown,
): Promise<number> {
  if (asPortcullisError(thrown).code !== 'not_found') throw thrown;
  const { state, detail, metadata } = await client.getTask(id);
  if (state !== 'rejected') throw thrown;
  const task = { taskId: id, pair: metadata.pair, state, refusal: metadata.refusal ?? null, detail };
  const rows = [
    ['task', id],
    ['pair', task.pair],
    ['state', `${output.style('bad', 'rejected')}, ${task.refusal ?? ''}: ${detail}`],
  ];
  output.result('Task', { task, request: null, result: null }, table(rows));
  return 0;
}

/** The stored bytes of a stream: all of them, or head and tail of what was too long. In base64 with `--json`. */
export async function printOutput(context: CliContext, id: string, stream: OutputStream): Promise<number> {
  const { output } = context;
  const stored = await operatorClient(context).taskOutput(id, stream);
  if (output.json) {
    const bytes = await buffer(stored);
    output.result('TaskOutput', { task: id, stream, bytes: bytes.length, base64: bytes.toString('base64') }, '');
    return 0;
  }
  for await (const chunk of stored) {
    if (Buffer.isBuffer(chunk)) output.raw(chunk);
  }
  return 0;
}

function taskText({ task, request, result }: Omit<TaskAnswer, 'schema'>, output: Output): string {
  const rows = [
    ['task', task.taskId],
    ['pair', task.pair],
    ['asked by', `${task.owner.role} (${task.owner.principal})`],
    ['asked at', new Date(task.createdAt).toISOString()],
    ['executor', `${task.executor.role}, workspace generation ${task.executor.workspaceGeneration}`],
    ['workflow', task.workflowId],
    ['request', task.requestDigest],
    ...(request === null ? [] : [['command', request.request.argv.join(' ')]]),
    ['state', `${task.state}, ${task.phase}${result === null ? `: ${task.detail}` : ''}`],
  ];
  if (result !== null) {
    rows.push(['result', verdictLine(result, output)]);
    rows.push(['status', `${result.status}, exit code ${result.exit_code ?? 'none'}`]);
    rows.push(['took', `${(result.duration_ms / 1000).toFixed(1)} s`]);
  }
  return table(rows);
}
