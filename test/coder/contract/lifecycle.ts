/**
 * What the client may rely on, whichever server it talks to: the same behaviours over the local Coder and, where one is
 * given, over a real server. Touches only workspaces of its own names, and deletes them.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CoderPort } from '../../../activities/coder/port.ts';
import { type BuildState, hasEnded, readiness } from '../../../schemas/coder/build.ts';
import type { TemplateState } from '../../../schemas/coder/template.ts';
import type { ParameterValue, WorkspaceRequest, WorkspaceState } from '../../../schemas/coder/workspace.ts';
import { failing } from '../stage.ts';

export interface Target {
  readonly coder: CoderPort;
  /** The same server with a token that is none. */
  readonly stranger: CoderPort;
  readonly owner: string;
  readonly template: TemplateState;
  /** What the template asks for beside the run. */
  readonly parameters: readonly ParameterValue[];
  /** What makes a build take longer than a request; nothing where any build does. */
  readonly slow: readonly ParameterValue[];
  /** How long a build or an agent may take, in milliseconds. */
  readonly patienceMs: number;
  close(): Promise<void>;
}

const HOUR_MS = 3_600_000;

/** Registers the behaviours; `open` is called once. */
export function lifecycle(open: () => Promise<Target>): void {
  let target: Target;
  const mark = randomBytes(4).toString('hex');
  const made = new Set<string>();

  beforeAll(async () => {
    target = await open();
  });
  afterAll(async () => {
    for (const id of made) await remove(target, id);
    await target.close();
  });

  const request = (name: string): WorkspaceRequest => ({
    owner: target.owner,
    name: `pct-${mark}-${name}`,
    templateId: target.template.id,
    templateVersionId: target.template.activeVersionId,
    run: `workspace/contract/${mark}/${name}`,
    parameters: target.parameters,
    ttlMs: HOUR_MS,
  });
  const create = async (name: string, more: readonly ParameterValue[] = []) => {
    const asked = request(name);
    const parameters = [...asked.parameters, ...more];
    const answer = await target.coder.createOrAdopt({ ...asked, parameters });
    made.add(answer.workspace.id);
    return answer;
  };

  test('a workspace from its creation to its proved end', async () => {
    const { coder, patienceMs } = target;
    const { how, workspace } = await create('whole');
    expect(how).toBe('created');
    expect((await create('whole')).how).toBe('adopted');

    const ready = await until(target, workspace, (build) => readiness(build) === 'ready');
    expect(ready.deadline).not.toBeNull();
    expect((await coder.requestBuild(workspace.id, { transition: 'start' })).outcome).toBe('already');
    const later = new Date(Date.now() + 6 * HOUR_MS).toISOString();
    const extended = await coder.extend(workspace.id, later);
    expect(extended.extended && Date.parse(extended.deadline)).toBeCloseTo(Date.parse(later), -4);

    expect((await coder.requestBuild(workspace.id, { transition: 'stop' })).outcome).toBe('started');
    await until(target, workspace, ({ transition, job }) => transition === 'stop' && job === 'succeeded');
    expect(await coder.extend(workspace.id, later)).toEqual({ extended: false, because: 'not_running' });
    expect((await coder.requestBuild(workspace.id, { transition: 'start' })).outcome).toBe('started');
    const again = await until(target, workspace, (build) => readiness(build) === 'ready');
    expect(again.agents.map(({ id }) => id)).not.toEqual(ready.agents.map(({ id }) => id));

    expect(await coder.isGone(workspace.id)).toEqual({ gone: false, because: 'delete_not_asked' });
    const asked = await coder.requestBuild(workspace.id, { transition: 'delete' });
    expect(asked.outcome).toBe('started');
    const deadline = performance.now() + patienceMs;
    let proof = await coder.isGone(workspace.id);
    while (!proof.gone && performance.now() < deadline) {
      await pause(20);
      proof = await coder.isGone(workspace.id);
    }
    expect(proof).toEqual({ gone: true });
    expect(await coder.readById(workspace.id)).toEqual({ seen: 'deleted' });
    expect(await coder.readByName(target.owner, workspace.name)).toEqual({ seen: 'unseen' });
    await expect(coder.createOrAdopt(request('whole'))).rejects.toEqual(failing('coder_name_spent'));
  });

  test('while a build runs nothing else is built; a cancelled one ends, and frees its workspace', async () => {
    const { coder, template } = target;
    const { workspace } = await create('busy', target.slow);
    const asked = await coder.requestBuild(workspace.id, { transition: 'delete' });
    expect(asked.outcome).toBe('busy');
    if (template.userMayCancel) {
      await until(target, workspace, ({ job }) => job === 'running');
      expect((await coder.cancelBuild(workspace.build.id, 'pending')).outcome).toBe('moved_on');
      expect((await coder.cancelBuild(workspace.build.id)).outcome).toBe('asked');
    }
    await until(target, workspace, ({ job }) => hasEnded(job));
    expect((await coder.cancelBuild(workspace.build.id)).outcome).toBe('ended');
    expect((await coder.requestBuild(workspace.id, { transition: 'delete' })).outcome).toBe('started');
  });

  test('of six creates at once one makes the workspace, and all have the same one', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => create('race')));
    expect(new Set(answers.map(({ workspace }) => workspace.id)).size).toBe(1);
    expect(answers.filter(({ how }) => how === 'created')).toHaveLength(1);
  });

  test('ttl: null takes the deadline away, and a later ttl does not bring it back to what runs', async () => {
    const { coder } = target;
    const { workspace } = await create('ttl');
    await until(target, workspace, ({ job }) => job === 'succeeded');
    await coder.setTtl(workspace.id, null);
    await coder.setTtl(workspace.id, HOUR_MS);
    expect((await read(target, workspace.id)).build.deadline).toBeNull();
    const far = new Date(Date.now() + 6 * HOUR_MS).toISOString();
    expect(await coder.extend(workspace.id, far)).toEqual({ extended: false, because: 'no_deadline' });
  });

  test('a workspace is found by its run, and tells when it changes', async () => {
    const { coder, owner, patienceMs } = target;
    const { workspace } = await create('found');
    const { run } = request('found');
    expect((await coder.listByRun(owner, run)).map((owned) => [owned.workspace.id, owned.run])).toEqual([
      [workspace.id, run],
    ]);
    const owned = (await coder.listOwned(owner)).find((one) => one.workspace.id === workspace.id);
    expect(owned?.run).toBe(run);
    const signal = AbortSignal.timeout(patienceMs);
    for await (const change of coder.watch(workspace.id, { signal })) {
      expect(change).toBe('changed');
      break;
    }
    await until(target, workspace, ({ job }) => hasEnded(job));
    const { build } = await read(target, workspace.id);
    expect((await coder.buildLogs(build.id)).length).toBeGreaterThan(2);
    expect((await coder.buildParameters(build.id)).map(({ name }) => name)).toContain('portcullis_run');
  });

  test('what cannot be is refused as what it is', async () => {
    const { coder, stranger } = target;
    const unknown = '11111111-1111-4111-8111-111111111111';
    const refused = (change: Partial<WorkspaceRequest>) => coder.createOrAdopt({ ...request('none'), ...change });
    await expect(refused({ name: `pct_${mark}` })).rejects.toEqual(failing('coder_refused', { fields: 'name' }));
    await expect(refused({ templateId: unknown })).rejects.toEqual(failing('coder_refused', { fields: 'template_id' }));
    await expect(refused({ ttlMs: 1000 })).rejects.toEqual(failing('coder_refused', { fields: 'ttl_ms' }));
    const other = [{ name: 'not_there', value: '1' }];
    await expect(refused({ parameters: other })).rejects.toEqual(failing('coder_parameter_invalid'));
    expect(await coder.readById(unknown)).toEqual({ seen: 'unseen' });
    await expect(coder.requestBuild(unknown, { transition: 'stop' })).rejects.toEqual(failing('coder_unseen'));
    await expect(stranger.readById(unknown)).rejects.toEqual(failing('coder_unauthenticated'));
  });
}

async function read({ coder }: Target, id: string): Promise<WorkspaceState> {
  const reading = await coder.readById(id);
  if (reading.seen !== 'present') throw new Error(`workspace ${id} is ${reading.seen}`);
  return reading.workspace;
}

async function until(
  target: Target,
  { id, name }: WorkspaceState,
  holds: (build: BuildState) => boolean,
): Promise<BuildState> {
  const deadline = performance.now() + target.patienceMs;
  for (;;) {
    const { build } = await read(target, id);
    if (holds(build)) return build;
    if (performance.now() > deadline) {
      throw new Error(
        `${name} stays ${build.transition} ${build.job} ${build.jobError} ${JSON.stringify(build.agents)}`,
      );
    }
    await pause(target.patienceMs > 60_000 ? 1_000 : 20);
  }
}

/** Whatever state a test left it in. */
async function remove({ coder, patienceMs }: Target, id: string): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while ((await coder.readById(id)).seen === 'present' && performance.now() < deadline) {
    await coder.requestBuild(id, { transition: 'delete' });
    await pause(patienceMs > 60_000 ? 2_000 : 20);
  }
}
