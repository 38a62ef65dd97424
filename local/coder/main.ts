/**
 * A Coder server for this machine: the endpoints, answers and habits of the real one (spec/workspaces.md sections 3 and 7),
 * with workspaces that a runtime makes. On loopback only.
 *
 * @example const coder = await startLocalCoder({ stateFile, runtime, seed }); await coder.close()
 */
import { createServer } from 'node:http';
import { heard } from './agents/agents.ts';
import { agentRoutes } from './agents/routes.ts';
import { auditRoutes } from './audit.ts';
import { buildQueue } from './builds/queue.ts';
import { reap } from './builds/reaper.ts';
import { buildRoutes } from './builds/routes.ts';
import { chatRoutes } from './chats/routes.ts';
import { modelRoutes } from './chats/models.ts';
import { frames } from './chats/frames.ts';
import { chatTurns } from './chats/turns.ts';
import { coderClock } from './clock.ts';
import { changes, type LocalCoderContext } from './context.ts';
import { coderApp } from './http/route.ts';
import { jobRoutes } from './jobs.ts';
import { localRoutes } from './local-routes.ts';
import { organizationRoutes } from './organizations.ts';
import { plant } from './seed.ts';
import { type LocalCoderOptions, localCoderSettings } from './settings.ts';
import { serveSockets } from './sockets.ts';
import { openState, type State } from './state/state.ts';
import { templateRoutes } from './templates/routes.ts';
import { userRoutes } from './users/routes.ts';
import { autostop } from './workspaces/autostop.ts';
import { workspaceRoutes } from './workspaces/routes.ts';

const LOOPBACK = '127.0.0.1';

export interface LocalCoder {
  readonly url: string;
  /** Ends as a server that is stopped: builds that ran stay `running` in the state, as in the field. */
  close(): Promise<void>;
}

/** @throws Error when its port is taken or its state cannot be read */
export async function startLocalCoder(options: LocalCoderOptions): Promise<LocalCoder> {
  const settings = localCoderSettings(options);
  const state = openState(settings.stateFile);
  const ending = new AbortController();
  const aliveUntil = state.aliveUntil();
  const coder: LocalCoderContext = {
    settings,
    state,
    clock: coderClock(settings.timeScale, aliveUntil),
    runtime: settings.runtime,
    changes: changes(),
    queue: buildQueue(settings.provisioners, () => coder),
    turns: chatTurns(() => coder),
    frames: frames(),
    ending: ending.signal,
  };
  plant(coder, settings.seed);
  await coder.runtime.open((event) => {
    // What a runtime says while it ends is not the workspaces' state: their server is away, as they are.
    if (!ending.signal.aborted) heard(coder, event);
  }, knownAgents(state));
  for (const build of state.builds.all()) if (build.job.status === 'pending') coder.queue.add(build);
  coder.turns.resume();

  let url = '';
  const app = coderApp(coder, [
    ...organizationRoutes(coder, () => url),
    ...userRoutes(coder),
    ...templateRoutes(coder),
    ...workspaceRoutes(coder),
    ...buildRoutes(coder),
    ...agentRoutes(coder),
    ...jobRoutes(coder),
    ...auditRoutes(coder),
    ...modelRoutes(coder),
    ...chatRoutes(coder),
    ...localRoutes(coder),
  ]);
  const server = createServer(app);
  serveSockets(coder, server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(settings.port, LOOPBACK, resolve);
  });
  const address = server.address();
  url = `http://${LOOPBACK}:${typeof address === 'object' && address !== null ? address.port : 0}`;

  const tick = () => {
    state.alive(coder.clock.iso());
    reap(coder, aliveUntil ?? state.createdAt);
    autostop(coder);
  };
  tick();
  const calm = coder.clock.every(settings.tickMs, tick);
  return {
    url,
    async close() {
      calm();
      ending.abort();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await Promise.all([closed, coder.queue.stop(), coder.turns.stop()]);
      await coder.runtime.close();
      state.alive(coder.clock.iso());
      state.close();
    },
  };
}

function knownAgents(state: State) {
  return state.workspaces
    .all()
    .filter(({ deleted }) => !deleted)
    .flatMap(({ id, buildId }) => {
      const build = state.builds.get(buildId);
      if (build?.transition !== 'start') return [];
      const run = build.parameters.find(({ name }) => name === 'portcullis_run')?.value ?? '';
      return state.agents.of(buildId).map((agent) => ({ workspaceId: id, agentId: agent.id, run }));
    });
}
