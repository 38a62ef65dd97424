/** Deleting a workspace at Coder, step by step, and what is done beside it. */
import { hasEnded, type BuildState } from '../../schemas/coder/build.ts';
import { PortcullisError, portcullisError } from '../../schemas/errors.ts';
import { shortened } from '../../schemas/text.ts';
import type {
  DeleteLook,
  DeleteSight,
  Located,
  SweepAnswer,
  WorkspaceRef,
} from '../../schemas/workspace/activities.ts';
import { auditWriter } from '../audit/write.ts';
import type { CallOptions } from '../coder/port.ts';
import type { CoderAccess, WorkspaceDependencies } from './dependencies.ts';
import { coderOf } from './provision.ts';
import { lookUntil, type Pulse } from './pulse.ts';

/** By run and name: what carries only one of them is somebody else's or a copy, and proves nothing about this one. */
export async function locateWorkspace(
  needs: WorkspaceDependencies,
  { run, name }: WorkspaceRef,
  call: CallOptions,
): Promise<Located> {
  const { port, owner } = coderOf(needs);
  const found = (await port.listByRun(owner, run, call)).find(({ workspace }) => workspace.name === name);
  return found === undefined ? { found: 'nothing' } : { found: 'present', coderWorkspaceId: found.workspace.id };
}

/** Takes the next step towards gone and answers as soon as what is seen differs from `look.seen`. */
export async function advanceDelete(
  needs: WorkspaceDependencies,
  look: DeleteLook,
  pulse: Pulse,
): Promise<DeleteSight> {
  const coder = coderOf(needs);
  const cancelled = new Set<string>();
  let { buildId } = look;
  return await lookUntil(
    pulse,
    look.forMs,
    async () => {
      const sight =
        buildId === null
          ? await askDelete(coder, look, cancelled, pulse)
          : await followDelete(coder, look.coderWorkspaceId, buildId, pulse);
      ({ buildId } = sight);
      return sight;
    },
    (sight) => sight.at !== look.seen?.at || sight.detail !== look.seen.detail,
  );
}

async function askDelete(
  { port, organization }: CoderAccess,
  { coderWorkspaceId, activeVersion }: DeleteLook,
  cancelled: Set<string>,
  call: CallOptions,
): Promise<DeleteSight> {
  const templateVersionId = activeVersion
    ? await activeVersionOf({ port, organization }, coderWorkspaceId, call)
    : null;
  const request = templateVersionId === null ? {} : { templateVersionId };
  const asked = await port.requestBuild(coderWorkspaceId, { transition: 'delete', ...request }, call);
  switch (asked.outcome) {
    case 'gone':
      return proof(await port.isGone(coderWorkspaceId, undefined, call), null);
    case 'started':
    case 'already':
      return deleting(asked.build);
    case 'busy':
      return asked.build.transition === 'delete'
        ? deleting(asked.build)
        : await standBy({ port }, asked.build, cancelled, call);
  }
}

/** Another build is active: it is cancelled where that is allowed, and waited for in any case. */
async function standBy(
  { port }: Pick<CoderAccess, 'port'>,
  build: BuildState,
  cancelled: Set<string>,
  call: CallOptions,
): Promise<DeleteSight> {
  if (!cancelled.has(build.id)) {
    cancelled.add(build.id);
    try {
      await port.cancelBuild(build.id, undefined, call);
    } catch (thrown) {
      // A template may keep users from cancelling; then it ends by itself, or Coder's reaper ends it.
      if (!(thrown instanceof PortcullisError) || thrown.code !== 'coder_forbidden') throw thrown;
    }
  }
  return { at: 'busy', buildId: null, reason: '', detail: `waiting for its ${build.transition} build to end` };
}

async function activeVersionOf(
  { port, organization }: Pick<CoderAccess, 'port' | 'organization'>,
  coderWorkspaceId: string,
  call: CallOptions,
): Promise<string | null> {
  const reading = await port.readById(coderWorkspaceId, call);
  if (reading.seen !== 'present' || reading.workspace.templateName === '') return null;
  const template = await port.template(organization, reading.workspace.templateName, call);
  return template.activeVersionId;
}

async function followDelete(
  { port }: CoderAccess,
  coderWorkspaceId: string,
  buildId: string,
  call: CallOptions,
): Promise<DeleteSight> {
  const build = await port.build(buildId, call);
  if (!hasEnded(build.job)) return deleting(build);
  if (build.job !== 'succeeded') {
    const detail = build.jobError === '' ? `the delete build ended ${build.job}` : shortened(build.jobError, 300);
    return { at: 'failed', buildId, reason: 'delete_failed', detail };
  }
  return proof(await port.isGone(coderWorkspaceId, buildId, call), buildId);
}

function deleting({ id, job, queuePosition, queueSize }: BuildState): DeleteSight {
  const queued = job === 'pending' ? `, place ${queuePosition} of ${queueSize} in Coder's queue` : '';
  return { at: 'deleting', buildId: id, reason: '', detail: `its delete build is ${job}${queued}` };
}

function proof(answer: Awaited<ReturnType<CoderAccess['port']['isGone']>>, buildId: string | null): DeleteSight {
  if (answer.gone) return { at: 'gone', buildId, reason: '', detail: 'gone' };
  return { at: 'failed', buildId, reason: answer.because, detail: `it is not proved gone: ${answer.because}` };
}

export async function sweepCompute(
  needs: WorkspaceDependencies,
  { run }: WorkspaceRef,
  signal: AbortSignal,
): Promise<SweepAnswer> {
  return { swept: await coderOf(needs).sweep.sweep(run, signal) };
}

/** The label that every chat of a run carries. */
export const CHAT_LABEL = 'portcullis_run';

/** Interrupts and archives what can be; how many chats of the run are still active. */
export async function quietChats(
  needs: WorkspaceDependencies,
  run: string,
  call: CallOptions,
): Promise<{ readonly active: number }> {
  const chats = needs.coder?.chats ?? null;
  if (chats === null) return { active: 0 };
  let active = 0;
  for (const chat of await chats.list({ key: CHAT_LABEL, value: run }, call)) {
    if (chat.archived) continue;
    if (chat.status === 'running' || chat.status === 'requires_action') await chats.interrupt(chat.id, call);
    if ((await chats.archive(chat.id, call)) === 'active') active += 1;
  }
  return { active };
}

/** @throws `coder_forbidden` where no break-glass identity is set up, `coder_conflict` while another build is active */
export async function orphanWorkspace(
  needs: WorkspaceDependencies,
  { tenant, run, name }: WorkspaceRef,
  coderWorkspaceId: string,
  by: string,
  pulse: Pulse,
): Promise<void> {
  const { breakGlass } = coderOf(needs);
  const operation = 'orphan workspace';
  if (breakGlass === null) throw portcullisError('coder_forbidden', { operation });
  // Recorded before it is done: what is orphaned leaves nothing at Coder to find it by.
  const refs = { workspace: name, run: shortened(run, 255), by: shortened(by, 255) };
  await needs.store.appendAudit(tenant, auditWriter(tenant, needs.actionKey, 'workspace_orphaned', refs));
  const asked = await breakGlass.requestBuild(coderWorkspaceId, { transition: 'delete', orphan: true }, pulse);
  if (asked.outcome === 'gone') return;
  if (asked.outcome === 'busy') throw portcullisError('coder_conflict', { operation });
  const { id } = asked.build;
  await lookUntil(
    pulse,
    60_000,
    () => breakGlass.build(id, pulse),
    ({ job }) => hasEnded(job),
  );
}
