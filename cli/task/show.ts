import type { OutputStream } from '../../schemas/keys.ts';
import type { TaskAnswer } from '../../schemas/operator-api.ts';
import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import { table, type Output } from '../output.ts';

export async function showTask(context: CliContext, id: string): Promise<number> {
  const { task, request, result } = await operatorClient(context).showTask(id);
  context.output.result('Task', { task, request, result }, taskText({ task, request, result }, context.output));
  return 0;
}

/** The stored bytes of a stream: all of them, or head and tail of what was too long. */
export async function printOutput(context: CliContext, id: string, stream: OutputStream): Promise<number> {
  for await (const chunk of await operatorClient(context).taskOutput(id, stream)) {
    if (Buffer.isBuffer(chunk)) context.output.raw(chunk);
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
    ['state', `${task.state}, ${task.phase}: ${task.detail}`],
  ];
  if (result !== null) {
    const verdict = result.satisfied ? output.style('good', 'satisfied') : output.style('bad', 'not satisfied');
    rows.push(['result', `${verdict}, ${result.status}, exit code ${result.exit_code ?? 'none'}`]);
    rows.push(['took', `${(result.duration_ms / 1000).toFixed(1)} s`]);
    if (result.reasons.length > 0) rows.push(['reasons', result.reasons.join(', ')]);
  }
  return table(rows);
}
