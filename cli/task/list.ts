import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import { duration, table } from '../output.ts';

export async function listTasks(
  context: CliContext,
  query: { readonly pair: string | null; readonly limit: number },
): Promise<number> {
  const { pair, limit } = query;
  const { items } = await operatorClient(context).listTasks({ limit, ...(pair === null ? {} : { pair }) });
  const now = Date.now();
  const rows = items.map((task) => [
    task.taskId,
    task.pair,
    task.state,
    task.outcome ?? task.phase,
    `${duration(now - task.createdAt)} ago`,
    task.detail,
  ]);
  const text =
    rows.length === 0 ? 'No tasks.' : table([['TASK', 'PAIR', 'STATE', 'OUTCOME', 'ASKED', 'DETAIL'], ...rows]);
  context.output.result('TaskList', { items }, text);
  return 0;
}
