/**
 * The runtime whose workspaces are real: a directory, namespaces, a harness, an executor, a checkout. Compute outlives a
 * server that is killed, and ends with one that ends in order.
 *
 * @example const runtime = await openProcessRuntime(settings); await startLocalCoder({ runtime, … })
 */
import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { removeTree } from '../../../activities/executor/run-directory.ts';
import { findOnPath } from '../../../activities/executor/toolchain-search.ts';
import { asPortcullisError } from '../../../schemas/errors.ts';
import type {
  AgentEvent,
  BuildOutcome,
  BuildWatch,
  Compute,
  KnownAgent,
  RuntimeEnd,
  RuntimeStart,
  RuntimeTurn,
  TurnOutcome,
  TurnWatch,
  WorkspaceRuntime,
} from '../runtime.ts';
import { linkAgent, type AgentLink } from './agent-link.ts';
import { askForTurn, turnCommand } from './agent-turn.ts';
import { endCompute, isAlive, listCompute, readCompute, removeCompute, writeCompute } from './compute.ts';
import type { ComputeRecord, FoundCompute } from './compute.ts';
import { freeBytesOf, watchDisk, type DiskWatch } from './disk-watch.ts';
import { checkParameters, launchCompute, roleOf, scriptedArgv } from './launch.ts';
import { computeRoot, placeOf, type Place } from './place.ts';
import { DEFAULT_DISK_BOUNDS, type AgentCommand, type RuntimeSettings } from './settings.ts';

/** A turn of the scripted agent takes seconds. */
const SCRIPTED_SECS = 300;

/** @throws `setting_invalid` when the directory's path is too long for sockets */
export async function openProcessRuntime(settings: RuntimeSettings): Promise<WorkspaceRuntime> {
  placeOf(settings.directory, 'x');
  await mkdir(computeRoot(settings.directory), { recursive: true, mode: 0o700 });
  return new ProcessRuntime(settings);
}

/** Ends everything that a runtime in this directory left, whoever ran it. How many were alive. */
export async function endLeftCompute(directory: string): Promise<number> {
  return sweepWhere(directory, () => true);
}

async function sweepWhere(directory: string, wanted: (record: ComputeRecord) => boolean): Promise<number> {
  const found = (await listCompute(directory)).filter(({ record }) => wanted(record));
  const ended = await Promise.all(found.map(({ place }) => removeCompute(place)));
  return ended.filter(Boolean).length;
}

class ProcessRuntime implements WorkspaceRuntime {
  readonly #settings: RuntimeSettings;
  readonly #links = new Map<string, AgentLink>();
  #listener: (event: AgentEvent) => void = () => {};
  #disk: DiskWatch | null = null;

  constructor(settings: RuntimeSettings) {
    this.#settings = settings;
  }

  async open(listener: (event: AgentEvent) => void, known: readonly KnownAgent[]): Promise<void> {
    this.#listener = listener;
    for (const { workspaceId, agentId } of known) {
      const place = this.#place(workspaceId);
      const record = await readCompute(place);
      if (record?.agentId === agentId && (await isAlive(place))) {
        listener({ agentId, event: 'connected' });
        this.#link({ record, place }, true);
      } else {
        listener({ agentId, event: 'disconnected' });
      }
    }
    this.#disk ??= await this.#watchDisk();
  }

  async apply(start: RuntimeStart, watch: BuildWatch): Promise<BuildOutcome> {
    const place = this.#place(start.workspaceId);
    try {
      checkParameters(start);
      this.#unlink(start.workspaceId);
      if (await endCompute(place)) said(watch, 'the processes of the last build are gone');
      if (watch.signal.aborted) return cancelled();
      await mkdir(place.directory, { recursive: true, mode: 0o700 });
      const record: ComputeRecord = {
        schema: 'portcullis/compute/v1',
        workspaceId: start.workspaceId,
        run: start.run,
        agentId: start.agent.id,
        buildNumber: start.buildNumber,
        name: start.name,
        role: roleOf(start),
        connects: start.agent.connects === 'soon',
        startExit: start.agent.startExit,
      };
      // Before the first process: whatever happens from here on, a sweep finds it.
      await writeCompute(place, record);
      said(watch, `starting ${start.name}: own network, own user, one socket to the gateway`);
      const entered = await settledOrCancelled(launchCompute(this.#settings, place, start), watch.signal);
      if (!entered) return cancelled();
      said(watch, 'its first process runs');
      this.#link({ record, place }, false);
      return { outcome: 'succeeded' };
    } catch (thrown) {
      return { outcome: 'failed', error: asPortcullisError(thrown).message };
    }
  }

  stop({ workspaceId }: RuntimeEnd, watch: BuildWatch): Promise<BuildOutcome> {
    return this.#end(workspaceId, watch, (place) => endCompute(place));
  }

  destroy({ workspaceId }: RuntimeEnd, watch: BuildWatch): Promise<BuildOutcome> {
    return this.#end(workspaceId, watch, removeCompute);
  }

  async runTurn(turn: RuntimeTurn, watch: TurnWatch): Promise<TurnOutcome> {
    if (turn.workspaceId === null) return { outcome: 'no_agent' };
    const place = this.#place(turn.workspaceId);
    const record = await readCompute(place);
    const role = record?.role ?? null;
    if (role !== 'forge' && role !== 'sentinel' && role !== 'lore') return { outcome: 'no_agent' };
    if (!(await isAlive(place))) return { outcome: 'no_agent' };
    const choice = this.#settings.agents[role];
    const agent = choice === 'scripted' ? await scriptedAgent() : choice;
    return askForTurn(place.channel, turnCommand(agent, turn), watch);
  }

  async survivors(): Promise<readonly Compute[]> {
    return (await this.#alive()).map(({ record: { run, workspaceId } }) => ({ run, workspaceId }));
  }

  sweep(run: string): Promise<number> {
    return sweepWhere(this.#settings.directory, (record) => {
      if (record.run !== run) return false;
      this.#unlink(record.workspaceId);
      return true;
    });
  }

  async close(): Promise<void> {
    this.#disk?.close();
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
    const found = await listCompute(this.#settings.directory);
    await Promise.all(found.map(({ place }) => endCompute(place)));
  }

  async #watchDisk(): Promise<DiskWatch> {
    const { directory, disk } = this.#settings;
    return watchDisk({
      bounds: { ...DEFAULT_DISK_BOUNDS, ...disk },
      find: (await findOnPath('find', '/usr/bin:/bin:/usr/local/bin')) ?? 'find',
      free: freeBytesOf(computeRoot(directory)),
      alive: async () => (await this.#alive()).map(({ record, place }) => watched(record, place)),
      end: async (id, reason) => {
        const place = this.#place(id);
        const record = await readCompute(place);
        if (record === null) return;
        this.#listener({
          agentId: record.agentId,
          event: 'log',
          level: 'error',
          text: `the workspace ends: ${reason}`,
        });
        // It writes as long as it is asked.
        await endCompute(place, 'at once');
        // Nobody goes on with what is there, and until it is gone nothing is won.
        await removeTree(place.workspace);
      },
    });
  }

  async #alive(): Promise<readonly FoundCompute[]> {
    const found = await listCompute(this.#settings.directory);
    return (await Promise.all(found.map(async (one) => ((await isAlive(one.place)) ? [one] : [])))).flat();
  }

  async #end(workspaceId: string, watch: BuildWatch, how: (place: Place) => Promise<boolean>): Promise<BuildOutcome> {
    const place = this.#place(workspaceId);
    try {
      const ended = await settledOrCancelled(how(place), watch.signal);
      if (!ended) return cancelled();
      said(watch, 'its processes are gone');
      this.#unlink(workspaceId);
      return { outcome: 'succeeded' };
    } catch (thrown) {
      return { outcome: 'failed', error: asPortcullisError(thrown).message };
    }
  }

  #place(workspaceId: string): Place {
    return placeOf(this.#settings.directory, workspaceId);
  }

  #link(found: FoundCompute, known: boolean): void {
    this.#unlink(found.record.workspaceId);
    this.#links.set(
      found.record.workspaceId,
      linkAgent(found, (event) => this.#listener(event), known),
    );
  }

  #unlink(workspaceId: string): void {
    this.#links.get(workspaceId)?.close();
    this.#links.delete(workspaceId);
  }
}

function watched({ workspaceId }: ComputeRecord, { workspace }: Place) {
  return { id: workspaceId, directory: workspace };
}

async function scriptedAgent(): Promise<AgentCommand> {
  return { argv: await scriptedArgv(), resume: null, environment: {}, mounts: [], timeoutSecs: SCRIPTED_SECS };
}

/** False when the build was cancelled first; what was begun goes on by itself, as it does in the field. */
async function settledOrCancelled(work: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  const stopped = new AbortController();
  const cancelling = delay(2 ** 31 - 1, false, { signal: AbortSignal.any([signal, stopped.signal]) }).catch(
    () => false,
  );
  try {
    return await Promise.race([work.then(() => true), cancelling]);
  } finally {
    stopped.abort();
    work.catch(() => {});
  }
}

function cancelled(): BuildOutcome {
  return { outcome: 'failed', error: 'the build was cancelled' };
}

function said(watch: BuildWatch, text: string): void {
  watch.log({ stage: 'apply', level: 'info', text });
}
