/** `ticket start`: the repository taken in, the workflow started. */
import { fileURLToPath } from 'node:url';
import { readRepositoryHead } from '../../activities/git/bundle.ts';
import type { GatewayClient } from '../../client/gateway-client.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { TicketStartedAnswer } from '../../schemas/operator-api.ts';
import type { TicketDefinition } from '../../schemas/ticket/definition.ts';
import type { TicketSource } from '../../schemas/ticket/workflow.ts';
import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import { importHead } from '../verify/pair.ts';
import { readTicketFile } from './file.ts';
import { watchTicket } from './watch.ts';

export interface StartOptions {
  readonly file: string;
  /** Instead of what the file names: a path on this machine, or a remote. */
  readonly repo: string | null;
  readonly remote: string | null;
  /** Instead of the file's id. */
  readonly id: string | null;
  readonly watch: boolean;
}

export async function startTicket(context: CliContext, options: StartOptions): Promise<number> {
  const definition = withOverrides(await readTicketFile(options.file), options);
  const client = operatorClient(context);
  context.output.progress(`taking in ${placeOf(definition)}`);
  const started = await submitTicket(client, definition);
  const { ticket, outcome, workflowId } = started;
  const text = `${ticket} ${outcome === 'started' ? 'started' : 'runs already'} as workflow ${workflowId}\nportcullis ticket why ${ticket}`;
  if (!options.watch) {
    context.output.result('TicketStarted', { ticket, outcome, workflowId }, text);
    return 0;
  }
  context.output.progress(text);
  return await watchTicket(context, ticket);
}

/** Uploads what the ticket starts from and starts it. @throws `repository_invalid`, `kill_switch`, `state_conflict` */
export async function submitTicket(client: GatewayClient, definition: TicketDefinition): Promise<TicketStartedAnswer> {
  return await client.startTicket({ definition, source: await sourceOf(client, definition) });
}

async function sourceOf(client: GatewayClient, { repository }: TicketDefinition): Promise<TicketSource> {
  if ('remote' in repository) return { importId: null, baseSha: null, remote: remoteName(repository.remote) };
  const head = await readRepositoryHead(repository.path);
  return { importId: await importHead(client, head), baseSha: head.headSha, remote: null };
}

/** A bare repository of this machine is named to git by its path. */
function remoteName(url: string): string {
  return url.startsWith('file:') ? fileURLToPath(url) : url;
}

function withOverrides(definition: TicketDefinition, { repo, remote, id }: StartOptions): TicketDefinition {
  if (repo !== null && remote !== null)
    throw portcullisError('usage', { reason: '--repo and --remote exclude each other' });
  const repository = repo !== null ? { path: repo } : remote !== null ? { remote } : definition.repository;
  return { ...definition, repository, id: id ?? definition.id };
}

function placeOf({ repository }: TicketDefinition): string {
  return 'remote' in repository ? repository.remote : repository.path;
}
