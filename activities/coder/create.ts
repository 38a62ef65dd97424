/**
 * Create or adopt. The server has no idempotency key: of six creates of one name at once one is answered 201 and five
 * 500, and an answer can be lost. So what an ambiguous answer meant is read back by name and compared.
 */
import type { WorkspaceCreated, WorkspaceRequest, WorkspaceState } from '../../schemas/coder/workspace.ts';
import { portcullisError, PortcullisError } from '../../schemas/errors.ts';
import { type Answer, ask } from './answer.ts';
import { workspaceAnswer } from './answers.schema.ts';
import type { CoderClient } from './client.ts';
import { checkParameters } from './parameters.ts';
import type { CallOptions } from './port.ts';
import { readByName, readParameters, signalOf } from './reads.ts';
import { refusalError } from './refusal.ts';
import { readTemplateParameters } from './templates.ts';

const OPERATION = 'create workspace';

export async function createOrAdopt(
  client: CoderClient,
  runParameter: string,
  request: WorkspaceRequest,
  call: CallOptions = {},
): Promise<WorkspaceCreated> {
  const before = await adopt(client, runParameter, request, call);
  if (before !== null) return before;
  const values = [{ name: runParameter, value: request.run }, ...request.parameters];
  checkParameters(await readTemplateParameters(client, request.templateVersionId, call), values);

  let answer: Answer<WorkspaceState>;
  try {
    answer = await ask(
      OPERATION,
      workspaceAnswer,
      client.POST('/api/v2/users/{user}/workspaces', {
        params: { path: { user: request.owner } },
        body: {
          name: request.name,
          template_id: request.templateId,
          rich_parameter_values: values,
          ttl_ms: request.ttlMs,
          automatic_updates: 'never',
        },
        ...signalOf(call),
      }),
      call,
    );
  } catch (thrown) {
    // The answer was lost or is not one: it may have been made.
    if (!(thrown instanceof PortcullisError)) throw thrown;
    return orThrow(await adopt(client, runParameter, request, call), thrown);
  }
  if (answer.ok) return checked(client, runParameter, request, answer.value, call);
  const refused = refusalError(OPERATION, answer.refusal);
  const { status, fields } = answer.refusal;
  const ambiguous = status >= 500 || (status === 409 && fields.includes('name'));
  if (!ambiguous) throw refused;
  return orThrow(await adopt(client, runParameter, request, call), refused);
}

/** A version that became active after the check may have dropped our parameter, and the workspace with it out of sight. */
async function checked(
  client: CoderClient,
  runParameter: string,
  request: WorkspaceRequest,
  workspace: WorkspaceState,
  call: CallOptions,
): Promise<WorkspaceCreated> {
  if (workspace.build.templateVersionId !== request.templateVersionId) {
    await refuseOther(client, runParameter, request, workspace, call);
  }
  return { how: 'created', workspace };
}

/** What carries the name now, if it is what would be made; null when nothing does. */
async function adopt(
  client: CoderClient,
  runParameter: string,
  request: WorkspaceRequest,
  call: CallOptions,
): Promise<WorkspaceCreated | null> {
  const { name } = request;
  const reading = await readByName(client, request.owner, name, true, call);
  if (reading.seen === 'deleted') throw portcullisError('coder_name_spent', { name });
  if (reading.seen === 'unseen') return null;
  const { workspace } = reading;
  if (isDeleted(workspace)) throw portcullisError('coder_name_spent', { name });
  await refuseOther(client, runParameter, request, workspace, call);
  return { how: 'adopted', workspace };
}

/** Found by name, so a delete that succeeded can only be of this one. */
function isDeleted({ build }: WorkspaceState): boolean {
  return build.transition === 'delete' && build.job === 'succeeded';
}

async function refuseOther(
  client: CoderClient,
  runParameter: string,
  request: WorkspaceRequest,
  workspace: WorkspaceState,
  call: CallOptions,
): Promise<void> {
  const differs = await difference(client, runParameter, request, workspace, call);
  if (differs === null) return;
  throw portcullisError('coder_name_taken', { name: request.name, differs, workspaceId: workspace.id });
}

async function difference(
  client: CoderClient,
  runParameter: string,
  request: WorkspaceRequest,
  workspace: WorkspaceState,
  call: CallOptions,
): Promise<string | null> {
  if (workspace.ownerName !== request.owner) return 'owner';
  if (workspace.templateId !== request.templateId) return 'template';
  const parameters = await readParameters(client, workspace.build.id, call);
  const found = new Map(parameters.map(({ name, value }) => [name, value]));
  if (found.get(runParameter) !== request.run) return 'run';
  // A run can be guessed, and so can the name; only what this control plane made carries everything, claim codes among it.
  const other = request.parameters.find(({ name, value }) => (found.get(name) ?? '') !== value);
  return other === undefined ? null : `parameter ${other.name}`;
}

function orThrow(created: WorkspaceCreated | null, error: PortcullisError): WorkspaceCreated {
  if (created === null) throw error;
  return created;
}
