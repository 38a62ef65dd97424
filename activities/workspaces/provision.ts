/** From the registry to a workspace at Coder: what may be made, its credentials, its template, the create. */
import { planWorkspace as planOf } from '../../policies/workspaces/plan.ts';
import type { ClaimCodeRecord, CredentialRecord } from '../../schemas/credential.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type {
  CreatedWorkspace,
  CreateRequest,
  CredentialRequest,
  ResolvedTemplate,
  WorkspacePlan,
} from '../../schemas/workspace/activities.ts';
import { TEMPLATE_PARAMETERS } from '../../schemas/workspace/parameters.ts';
import type { WorkspaceInput } from '../../schemas/workspace/workflow.ts';
import type { CallOptions } from '../coder/port.ts';
import { claimCode, claimNames, type WorkspaceUse } from './claims.ts';
import type { CoderAccess, WorkspaceDependencies } from './dependencies.ts';

/** @throws `coder_not_configured`, `kill_switch`, `workspace_refused` */
export async function planWorkspace(needs: WorkspaceDependencies, input: WorkspaceInput): Promise<WorkspacePlan> {
  coderOf(needs);
  const kill = await needs.store.readKillSwitch(input.tenant);
  if (kill !== null) throw portcullisError('kill_switch', { reason: kill.reason });
  return planOf(needs.registry, input);
}

/** @throws `coder_not_configured` */
export function coderOf({ coder }: WorkspaceDependencies): CoderAccess {
  if (coder === null) throw portcullisError('coder_not_configured');
  return coder;
}

/** The seat first: a credential of a workspace that does not serve its role yet would be refused at the door. */
export async function writeWorkspaceCredentials(
  needs: WorkspaceDependencies,
  { workspace, plan, execution, expiresAt, claimUntil }: CredentialRequest,
): Promise<readonly string[]> {
  const { tenant, ticket, role, run, name, workspaceGeneration } = workspace;
  if (plan.executorRole !== null) {
    await needs.lifecycle.seatWorkspace(tenant, ticket, plan.executorRole, { name, generation: workspaceGeneration });
  }
  const ids: string[] = [];
  for (const use of usesOf(plan)) {
    const { codeHex, credentialId } = claimNames(claimCode(needs.claimKey, run, use));
    const record: CredentialRecord = {
      schema: 'portcullis/credential/v1',
      id: credentialId,
      tenant,
      pair: ticket,
      role,
      use,
      workspace: name,
      workspaceGeneration,
      execution,
      expiresAt,
      state: 'active',
    };
    const code: ClaimCodeRecord = {
      schema: 'portcullis/claim-code/v1',
      credentialId,
      expiresAt: Math.min(expiresAt, claimUntil),
      usedAt: null,
    };
    await needs.store.writeCredential(record, { codeHex, record: code });
    ids.push(credentialId);
  }
  return ids;
}

function usesOf(plan: WorkspacePlan): readonly WorkspaceUse[] {
  return [...(plan.executorRole === null ? [] : ['executor' as const]), ...(plan.agent ? ['agent' as const] : [])];
}

/**
 * @throws `workspace_template_refused` for a template on which Coder would interfere, `coder_parameter_invalid` when it lacks one of
 *   the parameters, `coder_unseen`
 */
export async function resolveTemplate(
  needs: WorkspaceDependencies,
  plan: WorkspacePlan,
  call: CallOptions,
): Promise<ResolvedTemplate> {
  const { port, organization } = coderOf(needs);
  const template = await port.template(organization, plan.template, call);
  const refuse = (reason: string) => portcullisError('workspace_template_refused', { template: plan.template, reason });
  if (template.deleted) throw refuse('it is deleted');
  if (template.deprecated) throw refuse('it is deprecated');
  if (template.activityBumpMs !== 0) throw refuse('activity moves its deadline (activity_bump must be 0)');
  if (template.timeTilDormantMs !== 0) throw refuse('it lets workspaces go dormant (time_til_dormant must be 0)');
  const known = new Set(
    (await port.templateParameters(template.activeVersionId, call)).map((parameter) => parameter.name),
  );
  for (const name of Object.values(TEMPLATE_PARAMETERS)) {
    if (!known.has(name)) throw portcullisError('coder_parameter_invalid', { name, reason: 'it is unknown there' });
  }
  return { templateId: template.id, templateVersionId: template.activeVersionId };
}

/** @throws the codes of `createOrAdopt` */
export async function createWorkspace(
  needs: WorkspaceDependencies,
  { workspace, plan, template, source, backstopMs }: CreateRequest,
): Promise<CreatedWorkspace> {
  const { port, owner } = coderOf(needs);
  const { run, name, tenant, ticket, role, workspaceGeneration } = workspace;
  const uses = usesOf(plan);
  const code = (use: WorkspaceUse) => (uses.includes(use) ? claimCode(needs.claimKey, run, use) : '');
  const { how, workspace: made } = await port.createOrAdopt({
    owner,
    name,
    templateId: template.templateId,
    templateVersionId: template.templateVersionId,
    run,
    ttlMs: backstopMs,
    parameters: [
      { name: TEMPLATE_PARAMETERS.tenant, value: tenant },
      { name: TEMPLATE_PARAMETERS.ticket, value: ticket },
      { name: TEMPLATE_PARAMETERS.role, value: role },
      { name: TEMPLATE_PARAMETERS.generation, value: String(workspaceGeneration) },
      { name: TEMPLATE_PARAMETERS.head, value: source.head },
      { name: TEMPLATE_PARAMETERS.branch, value: source.branch ?? '' },
      { name: TEMPLATE_PARAMETERS.executorClaim, value: code('executor') },
      { name: TEMPLATE_PARAMETERS.agentClaim, value: code('agent') },
    ],
  });
  const { id: buildId, job, provisionersAvailable } = made.build;
  // Only what made the build knows: one that was found again was read, and a read says 0 whatever there is.
  const unserved = how === 'created' && job === 'pending' && provisionersAvailable === 0;
  return { how, coderWorkspaceId: made.id, buildId, unserved };
}
