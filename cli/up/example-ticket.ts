/** The example ticket of `up`: from a plan to a merged change, then what each gate rested on. */
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { EXAMPLE_TICKET_FILE, exampleRemote, nextExampleTicket, remoteLog } from '../../local/example-ticket.ts';
import { exampleRepository } from '../../local/example.ts';
import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import { evidenceText } from '../gate/show.ts';
import { readTicketFile } from '../ticket/file.ts';
import { submitTicket } from '../ticket/start.ts';
import { watchTicket } from '../ticket/watch.ts';

const MAX_TICKETS = 500;
const GONE_MS = 60_000;
const LOOK_MS = 250;

/** @returns 0 when it is done and every workspace is gone; otherwise the exit code of where it stopped */
export async function runExampleTicket(context: CliContext): Promise<number> {
  const { output, paths } = context;
  const client = operatorClient(context);
  const began = performance.now();
  const repository = await exampleRepository(paths.examples);
  const { items } = await client.listTickets({ limit: MAX_TICKETS });
  const id = nextExampleTicket(items.map(({ state }) => state.ticketId));
  const remote = await exampleRemote(join(paths.root, 'remotes'), id, repository);
  const definition = {
    ...(await readTicketFile(EXAMPLE_TICKET_FILE)),
    id,
    repository: { remote: pathToFileURL(remote).href },
  };
  output.progress(`\nThe example ticket ${id}: ${definition.title}`);
  output.progress('Scripted agents work on it; what they push, submit and say decides nothing by itself.');
  await submitTicket(client, definition);
  const code = await watchTicket(context, id);
  output.progress(`\n${await evidenceOf(client, id, output)}`);
  const left = await workspacesLeft(client, id, context.signal);
  if (code === 0) {
    const log = await remoteLog(remote, definition.baseBranch);
    output.progress(`\nMerged into ${relative(process.cwd(), remote) || remote}, ${definition.baseBranch}:`);
    for (const line of log) output.progress(`  ${line}`);
  }
  output.progress(left.length === 0 ? 'Every workspace is gone.' : `Not gone: ${left.join(', ')}`);
  output.progress(`\n${id} took ${((performance.now() - began) / 1000).toFixed(1)} s.`);
  output.progress(nextCommands(id));
  return code === 0 && left.length > 0 ? 1 : code;
}

/** One table for each decision, oldest first. */
async function evidenceOf(client: GatewayClient, id: string, output: CliContext['output']): Promise<string> {
  const { items } = await client.gateHistory(id);
  const decided = items.toReversed().flatMap(({ evaluationKey }) => (evaluationKey === null ? [] : [evaluationKey]));
  const tables: string[] = [];
  for (const key of decided) {
    const { decision, evidence } = await client.showGate(key);
    const { gate, decision: word } = decision.decision;
    const head = `${output.style('strong', `${gate} gate`)}: ${output.style(word === 'pass' ? 'good' : 'warn', word)}  ${key}`;
    tables.push(`${head}\n${evidenceText(evidence, output)}`);
  }
  return tables.join('\n\n');
}

/** The ticket has ended when its change has; the last workspace is proved gone a moment later. */
async function workspacesLeft(client: GatewayClient, id: string, signal: AbortSignal): Promise<readonly string[]> {
  const deadline = performance.now() + GONE_MS;
  for (;;) {
    const left = await workspacesThere(client, id);
    if (left.length === 0 || signal.aborted || performance.now() > deadline) return left;
    await delay(LOOK_MS, undefined, { signal }).catch(() => {});
  }
}

async function workspacesThere(client: GatewayClient, id: string): Promise<readonly string[]> {
  const { items } = await client.listWorkspaces({ limit: MAX_TICKETS });
  return items
    .filter(({ ticket, state }) => ticket === id && state !== 'gone')
    .map((one) => `${one.id} (${one.state})`);
}

function nextCommands(id: string): string {
  return [
    `Look closer   npx portcullis ticket trace ${id}`,
    `              npx portcullis gate why ${id}`,
    `              npx portcullis finding list ${id}`,
    `              npx portcullis task list --pair ${id}`,
    '              npx portcullis audit verify',
    '              npx portcullis workspace list',
    '              npx portcullis ticket start examples/tickets/T-048.yaml --id T-1 --repo PATH --watch',
  ].join('\n');
}
