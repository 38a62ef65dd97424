/** What was recorded between exchanges, gone through again. */
import { isIdle, unrecorded, until } from './before.ts';
import { keyOf, type Trail } from './fixture.ts';
import { at, textAt } from './observe.ts';
import type { Stand } from './stand.ts';
import { agentsSeen, followed, isListOf, jobsSeen, jobTrail } from './trails.ts';

/** Null when it went alike; otherwise the difference, or why it was not compared. */
export async function checkTrail(stand: Stand, trail: Trail): Promise<string | null> {
  await unrecorded(stand, trail);
  const special = SPECIAL[keyOf(trail)];
  if (special !== undefined) return special(stand, trail);
  const { note } = trail;
  if (isListOf(note, 'job_status')) return followed(jobTrail(note), () => jobsOfLast(stand));
  if (isListOf(note, 'k')) {
    const recorded = note.map((one) => String(at(one, 'k')));
    return followed(recorded, () => agentsSeen(stand.watching, stand.workspaceId));
  }
  if (isListOf(note, 'status')) return chatTrail(stand, note);
  return 'said by the exchanges around it';
}

type Check = (stand: Stand, trail: Trail) => Promise<string | null>;

const jobsOfLast = (stand: Stand) => jobsSeen(stand.watching, stand.workspaceId, stand.buildId);

/** A delete that was not recorded, of which the trail was. */
const deletes: Check = async (stand, { note }) => {
  if (!Array.isArray(note)) return 'no trail';
  await until(stand, `/api/v2/workspaces/${stand.workspaceId}`, isIdle);
  const path = `/api/v2/workspaces/${stand.workspaceId}/builds`;
  const { body } = await stand.world.ask({ method: 'POST', path, auth: 'default', sent: { transition: 'delete' } });
  stand.buildId = String(at(body, 'id'));
  return followed(jobTrail(note), () => jobsOfLast(stand));
};

const agentDies: Check = async (stand, { note }) => {
  const ready = await followed(['running|connected|ready|healthy=true'], () =>
    agentsSeen(stand.watching, stand.workspaceId),
  );
  if (ready !== null || !Array.isArray(note)) return ready;
  stand.world.runtime.killAgent(stand.workspaceId);
  const recorded = note.map((one) => String(at(one, 'k')));
  return followed(recorded, () => agentsSeen(stand.watching, stand.workspaceId));
};

const raced: Check = (stand, { note }) => {
  const wanted = Array.isArray(note) ? note.map(Number).sort().join() : '';
  const got = [...stand.race].sort().join();
  return Promise.resolve(wanted === got ? null : `answered ${got}, recorded ${wanted}`);
};

const queued: Check = (stand, { note }) => {
  const wanted = Array.isArray(note) ? note.map((one) => [at(one, '0'), at(one, '2'), at(one, '3')].join()) : [];
  const got = stand.queue.slice(-wanted.length);
  const same = [...got].sort().join(' ') === [...wanted].sort().join(' ');
  return Promise.resolve(same ? null : `stood ${got.join(' ')}, recorded ${wanted.join(' ')}`);
};

const orphanLives: Check = async (stand) => {
  const survivors = await stand.world.runtime.survivors();
  return survivors.some(({ workspaceId }) => workspaceId === stand.workspaceId) ? null : 'its compute is gone';
};

const killed: Check = async (stand) => {
  const started = await followed(['running/starting'], () => jobsOfLast(stand));
  // The server ends with a build under way and comes back over the same state; its reaper waits a tenth as long.
  await stand.restart({ timeScale: 0.02, hungMs: 60_000, tickMs: 2_000 });
  return started;
};

const deadJob: Check = (stand) =>
  followed(
    [
      'canceling/canceling',
      'failed/failed: Coder: Build has been detected as hung for 5 minutes and has been terminated by the reaper.',
    ],
    () => jobsOfLast(stand),
  );

const autostopped: Check = (stand, { note }) => {
  if (!Array.isArray(note)) return Promise.resolve('no trail');
  const text = (one: unknown) => ['transition', 'reason', 'status'].map((key) => String(at(one, key))).join('|');
  return followed(note.map(text), () =>
    stand.watching
      .of(stand.workspaceId)
      .map(({ state, reason }) => `${String(state['transition'])}|${String(reason)}|${String(state['status'])}`),
  );
};

const watched: Check = (stand, { note }) => {
  if (!Array.isArray(note)) return Promise.resolve('no trail');
  const recorded = note
    .filter((one) => at(one, 'event') === 'data')
    .map((one) => `${String(at(one, 'status'))} ${textAt(one, 'agent')}`)
    // Said more than once by the real server, as by chance.
    .filter((text, index, all) => text !== all[index - 1]);
  return followed(recorded, () =>
    stand.watching.of(stand.workspaceId).map(({ state }) => {
      const agents = state['agents'];
      return `${String(state['status'])} ${Array.isArray(agents) ? agents.join() : ''}`;
    }),
  );
};

const stillOpen: Check = async (stand) => {
  const before = stand.watching.of(stand.workspaceId).length;
  // Any change of a deleted workspace is still told.
  const path = `/api/v2/workspaces/${stand.workspaceId}/ttl`;
  await stand.world.ask({ method: 'PUT', path, auth: 'default', sent: { ttl_ms: 3_600_000 } });
  return followed(['told'], () => (stand.watching.of(stand.workspaceId).length > before ? ['told'] : []));
};

const limitedAt: Check = () => Promise.resolve('the limit is lowered for the replay');

/** Kinds of stream events in their order; a provider that stays away repeats itself, so the beginning will do. */
const streamed: Check = (stand, { note }) => {
  const kinds = Array.isArray(note) ? note.map(String).filter((kind) => kind !== 'text') : [];
  const recorded = kinds.filter((kind, index) => kind !== kinds[index - 1]).slice(0, 8);
  return followed(recorded, () => stand.chats.types(stand.chatId));
};

const SPECIAL: Readonly<Record<string, Check>> = {
  '05/26': orphanLives,
  '06/3': deletes,
  '06/7': deletes,
  '06/11': deletes,
  '06/9': agentDies,
  '07/6': raced,
  '07/13': raced,
  '07/37': queued,
  '09/13': async (stand, trail) => {
    const first = await deletes(stand, { ...trail, note: Array.isArray(trail.note) ? [trail.note[0]] : [] });
    return first;
  },
  '10/3': watched,
  '10/4': stillOpen,
  '11/0': limitedAt,
  '12/33': streamed,
  '13/31': streamed,
  '15/1': autostopped,
  '16/1': killed,
  '16/7': deadJob,
};

/** States of the chat since the last request to it; why one failed is said by the read that follows. */
function chatTrail(stand: Stand, note: readonly unknown[]): Promise<string | null> {
  const recorded = note.map((one) => String(at(one, 'status')));
  const [first, ...rest] = recorded;
  return followed(recorded, () => {
    const seen = stand.chats.statuses(stand.chatId).slice(stand.chatMark);
    // A trail that begins where the chat was already.
    return seen[0] === first || rest.length > 0 ? seen : [...stand.chats.statuses(stand.chatId)];
  });
}
