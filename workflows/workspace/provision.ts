/** From nothing to a workspace that can be used: detect, assign, template, provision, install, bind. */
import { CancellationScope, condition, proxyActivities, proxyLocalActivities, sleep } from '@temporalio/workflow';
import type {
  CreatedWorkspace,
  CreateRequest,
  ProvisionSight,
  ProvisionStep,
  ResolvedTemplate,
  WorkspaceActivities,
  WorkspaceLocalActivities,
  WorkspacePlan,
} from '../../schemas/workspace/activities.ts';
import type { Seat } from '../../schemas/queues.ts';
import type { WorkspaceInput, WorkspaceReady } from '../../schemas/workspace/workflow.ts';
import { codeOfFailure, isCancel } from './failure.ts';
import { tellOwner, type End, type Life } from './life.ts';
import { CODER_CALL, CREATE_CALL, lookOptions, PROVISION_CALL_MS, STORE_RETRY } from './options.ts';
import { refOf, show, tell } from './session.ts';

const store = proxyLocalActivities<WorkspaceLocalActivities>(STORE_RETRY);
const { resolveTemplate } = proxyActivities<WorkspaceActivities>({
  ...CODER_CALL,
  scheduleToCloseTimeout: PROVISION_CALL_MS,
});
const { createWorkspace } = proxyActivities<WorkspaceActivities>(CREATE_CALL);

const LOOK_MS = 20_000;
const { observeProvisioning } = proxyActivities<WorkspaceActivities>(lookOptions(LOOK_MS, PROVISION_CALL_MS));

/**
 * Asked again, in case the slots were ended meanwhile and started anew. Rarely: the reconciler sees within two rounds who waits and is not
 * known there, and a thousand that wait and ask are most of what a stack does while nothing happens.
 */
const ASK_AGAIN_MS = 30 * 60_000;
/** Coder fails a build that nobody took after 30 minutes, and one that hangs after 5. */
const CLAIM_LIFE_MS = 60 * 60_000;
/** Coder's own ttl ends so much after the latest end of ours. */
const BACKSTOP_MARGIN_MS = 30 * 60_000;

/**
 * The name is somebody else's, or is used up: no create of ours can land any more. Any other failure, a plain refusal as well, may have
 * come after an attempt whose answer was lost.
 */
const CANNOT_LAND: ReadonlySet<string> = new Set(['coder_name_taken', 'coder_name_spent']);

/** How long each step may last without the next one. Queueing is a normal wait; what hangs is not. */
const STEP_BOUND_MS: Readonly<Record<Exclude<ProvisionStep, 'ready' | 'failed'>, number>> = {
  queued: 36 * 60_000,
  building: 20 * 60_000,
  connecting: 10 * 60_000,
  door: 3 * 60_000,
};

/** `null` once its owner was told that it is ready; otherwise how it ended without. Throws what its steps throw. */
export async function makeReady(life: Life, input: WorkspaceInput): Promise<End | null> {
  const plan = await detect(life, input);
  await assign(life, plan);
  const template = await resolve(life, plan);
  const created = await provision(life, input, plan, template);
  const failed = await install(life, plan, created);
  if (failed !== null) return failed;
  return await bind(life, plan);
}

async function detect(life: Life, input: WorkspaceInput): Promise<WorkspacePlan> {
  show(life, 'registry', 'reading what this role may have');
  await tell(life, {}, { phase: 'detect', outcome: 'begun', detail: input.purpose });
  const plan = await store.planWorkspace(input);
  life.plan = plan;
  return plan;
}

/** Waits for a slot, and shows the place in line meanwhile. */
async function assign(life: Life, plan: WorkspacePlan): Promise<void> {
  const { tenant, role, run } = life.record;
  await tell(
    life,
    {},
    { phase: 'detect', outcome: 'done', detail: `template ${plan.template}, ttl ${plan.ttlSeconds} s` },
    { phase: 'assign', outcome: 'begun', detail: `one of ${plan.maxWorkers} slots` },
  );
  life.slot = 'asked';
  for (;;) {
    const { place } = life;
    show(life, 'slot', place === null ? 'asking for a slot' : placeInWords(place.place, place.waiting, place.stopped));
    await store.tellSlots(tenant, role, { kind: 'request', holder: run, capacity: plan.maxWorkers });
    const isGranted = () => life.slot === 'granted';
    while (!isGranted()) {
      const seen = life.place;
      if (!(await condition(() => isGranted() || life.place !== seen, ASK_AGAIN_MS))) break;
      if (life.place !== null && !isGranted()) {
        show(life, 'slot', placeInWords(life.place.place, life.place.waiting, life.place.stopped));
      }
    }
    if (isGranted()) return;
  }
}

function placeInWords(place: number, waiting: number, stopped: boolean): string {
  const line = `place ${place} of ${waiting} in line for a slot`;
  return stopped ? `${line}; stopped, since too many workspaces of the role are quarantined` : line;
}

async function resolve(life: Life, plan: WorkspacePlan): Promise<ResolvedTemplate> {
  await tell(
    life,
    { state: 'provisioning' },
    { phase: 'assign', outcome: 'done', detail: 'slot leased' },
    { phase: 'template', outcome: 'begun', detail: plan.template },
  );
  show(life, 'coder', `reading the template ${plan.template}`);
  return await resolveTemplate(refOf(life.record), plan);
}

async function provision(
  life: Life,
  input: WorkspaceInput,
  plan: WorkspacePlan,
  template: ResolvedTemplate,
): Promise<CreatedWorkspace> {
  const { tenant, role, run, id } = life.record;
  show(life, 'store', 'recording the name before anything carries it');
  // In this order: whoever ends in between leaves a name that the reconciler finds and a slot that only a proof frees.
  life.mayExist = true;
  await store.tellSlots(tenant, role, { kind: 'recorded', holder: run });
  await tell(
    life,
    {},
    { phase: 'template', outcome: 'done', detail: `version ${template.templateVersionId}` },
    { phase: 'provision', outcome: 'begun', detail: `named ${id}` },
  );
  const now = Date.now();
  const credentials = await store.writeWorkspaceCredentials({
    workspace: refOf(life.record),
    plan,
    execution: input.execution.id,
    expiresAt: now + CLAIM_LIFE_MS + plan.maxTtlSeconds * 1000,
    claimUntil: now + CLAIM_LIFE_MS,
  });
  // Kept at once: a teardown refuses exactly these.
  life.record = { ...life.record, credentials };
  show(life, 'coder', `creating ${id}`);
  const created = await create(life, {
    workspace: refOf(life.record),
    plan,
    template,
    source: input.source,
    backstopMs: plan.maxTtlSeconds * 1000 + BACKSTOP_MARGIN_MS,
  });
  await tell(
    life,
    {},
    { phase: 'provision', outcome: 'done', detail: created.how },
    { phase: 'install', outcome: 'begun', detail: `build ${created.buildId}` },
  );
  return created;
}

async function create(life: Life, request: CreateRequest): Promise<CreatedWorkspace> {
  // Nothing is asked for when a cancel came before.
  life.createPending = !CancellationScope.current().consideredCancelled;
  try {
    const created = await createWorkspace(request);
    // Kept at once: a cancel that came meanwhile is thrown by the next step, and the teardown needs this.
    life.record = { ...life.record, coderWorkspaceId: created.coderWorkspaceId };
    life.createPending = false;
    return created;
  } catch (thrown) {
    // A cancel says nothing: it may have come between an attempt whose answer was lost and the next.
    if (!isCancel(thrown) && CANNOT_LAND.has(codeOfFailure(thrown))) life.createPending = false;
    throw thrown;
  }
}

async function install(life: Life, plan: WorkspacePlan, created: CreatedWorkspace): Promise<End | null> {
  const { coderWorkspaceId, unserved } = created;
  if (unserved) return { trigger: 'failed', reason: 'no_provisioner', became: 'never_ready' };
  const seat = seatOf(life, plan);
  let seen: ProvisionSight | null = null;
  let since = Date.now();
  for (;;) {
    show(life, seen?.step === 'door' ? 'executor' : 'coder', seen?.detail ?? 'waiting for the build');
    const sight: ProvisionSight = await observeProvisioning({ coderWorkspaceId, seat, seen, forMs: LOOK_MS });
    if (sight.step === 'ready') return null;
    if (sight.step === 'failed') return { trigger: 'failed', reason: sight.reason, became: 'never_ready' };
    if (seen?.step !== sight.step) since = Date.now();
    else if (Date.now() - since >= STEP_BOUND_MS[sight.step]) {
      return { trigger: 'failed', reason: `stuck_${sight.step}`, became: 'never_ready' };
    }
    // The look itself takes its time when nothing changed; this keeps one that does not from turning in a circle.
    if (seen !== null && seen.step === sight.step && seen.detail === sight.detail) await sleep(2_000);
    seen = sight;
  }
}

export function seatOf({ record }: Life, plan: WorkspacePlan): Seat | null {
  if (plan.executorRole === null) return null;
  const { tenant, ticket, workspaceGeneration } = record;
  return { tenant, pair: ticket, role: plan.executorRole, workspaceGeneration };
}

/**
 * A chat is not made here: making one starts its first turn, so the first prompt makes it, under the label of this run. What is
 * bound is who may ask: the owner, which is told.
 */
async function bind(life: Life, plan: WorkspacePlan): Promise<End | null> {
  const { run, role, workspaceGeneration, id, coderWorkspaceId } = life.record;
  const now = Date.now();
  const agent = plan.agent ? `engine ${plan.engine}` : 'no agent';
  await tell(
    life,
    {
      state: 'ready',
      readyAt: now,
      deadline: now + plan.ttlSeconds * 1000,
      latestDeadline: now + plan.maxTtlSeconds * 1000,
    },
    { phase: 'install', outcome: 'done', detail: 'agent connected and ready' },
    { phase: 'bind', outcome: 'begun', detail: agent },
  );
  show(life, 'owner', 'telling its owner that it is ready');
  const ready: WorkspaceReady = {
    run,
    role,
    workspaceGeneration,
    name: id,
    coderWorkspaceId: coderWorkspaceId ?? '',
  };
  life.offered = true;
  if (!(await tellOwner(life, 'ready', ready))) {
    return { trigger: 'abandoned', reason: 'owner_closed', became: 'never_ready' };
  }
  await store.tellSlots(life.record.tenant, role, { kind: 'working', holder: run });
  return null;
}
