/** Builds, cancels, the end of a workspace and its ttl, over the answers of a real server. */
import { expect, test } from 'vitest';
import { as, type Exchange, recorded } from './recordings.ts';
import { failing, stage, WORKSPACE } from './stage.ts';

const running = recorded('01', 11);
const building = recorded('01', 1);
const deleting = recorded('04', 17);
const goneById = recorded('04', 20);
const active = recorded('01', 5);
const insertRace = as(recorded('07', 8), 'POST', `/api/v2/workspaces/${WORKSPACE}/builds`, 409);

/** The build inside a recorded workspace, as the answer to a read of it. */
function buildOf(workspace: Exchange, id?: string): Exchange {
  const build = (workspace.body as { latest_build: { id: string } }).latest_build;
  return { ...as(workspace, 'GET', `/api/v2/workspacebuilds/${id ?? build.id}`), body: build };
}

const posts = (calls: readonly string[]) => calls.filter((call) => call.startsWith('POST'));

test('a running workspace is not started again, which would give it a new agent', async () => {
  const { coder, calls } = await stage([running]);
  expect(await coder.requestBuild(WORKSPACE, { transition: 'start' })).toMatchObject({ outcome: 'already' });
  expect(posts(calls())).toEqual([]);
});

test('a delete is started and answers the build to wait for', async () => {
  const { coder, replay } = await stage([running, recorded('04', 16)]);
  const asked = await coder.requestBuild(WORKSPACE, { transition: 'delete' });
  expect(asked).toMatchObject({ outcome: 'started', build: { number: 8, transition: 'delete', job: 'pending' } });
  expect(replay.received.at(-1)?.body).toEqual({ transition: 'delete' });
});

test('nothing is asked for while a build is active', async () => {
  const { coder, calls } = await stage([building]);
  const asked = await coder.requestBuild(WORKSPACE, { transition: 'delete' });
  expect(asked).toMatchObject({ outcome: 'busy', build: { number: 1, transition: 'start' } });
  expect(posts(calls())).toEqual([]);
});

test.each([
  ['the build that is active', active],
  ['a race of two inserts', insertRace],
])('a 409 for %s is the other build, to wait for', async (_, conflict) => {
  const { coder } = await stage([running, conflict, deleting]);
  expect(await coder.requestBuild(WORKSPACE, { transition: 'stop' })).toMatchObject({
    outcome: 'busy',
    build: { number: 8, transition: 'delete' },
  });
});

test('a delete that lost against a delete has what it wanted', async () => {
  const { coder } = await stage([running, insertRace, deleting]);
  expect(await coder.requestBuild(WORKSPACE, { transition: 'delete' })).toMatchObject({ outcome: 'started' });
});

test('an orphan delete that lost against a plain one does not pass for it', async () => {
  const { coder } = await stage([running, insertRace, deleting]);
  const asked = await coder.requestBuild(WORKSPACE, { transition: 'delete', orphan: true });
  expect(asked).toMatchObject({ outcome: 'busy' });
});

test('a delete whose answer was lost is found by reading', async () => {
  const { coder } = await stage([running, { exchange: recorded('04', 16), fault: 'cut' }, deleting]);
  expect(await coder.requestBuild(WORKSPACE, { transition: 'delete' })).toMatchObject({
    outcome: 'started',
    build: { id: '75a5231f-12c9-4bdd-863c-ca915c7cc06d' },
  });
});

test('a delete that was never taken is asked again by the caller', async () => {
  const { coder } = await stage([running, { exchange: recorded('04', 16), fault: 'cut' }, running]);
  await expect(coder.requestBuild(WORKSPACE, { transition: 'delete' })).rejects.toEqual(failing('coder_unavailable'));
});

test('[inv-11] a deleted workspace is not started, nor deleted once more', async () => {
  for (const transition of ['start', 'stop', 'delete'] as const) {
    const { coder, calls } = await stage([goneById]);
    expect(await coder.requestBuild(WORKSPACE, { transition })).toEqual({ outcome: 'gone' });
    expect(posts(calls())).toEqual([]);
  }
});

test('a failed delete is asked again: Coder never does', async () => {
  const { coder } = await stage([recorded('05', 16), recorded('05', 18)]);
  const failed = 'a65b2813-9e68-45b2-b5b3-6d76459f10f3';
  expect(await coder.requestBuild(failed, { transition: 'delete' })).toMatchObject({ outcome: 'started' });
});

test('[inv-11] a delete that succeeded and left the workspace there is not taken for done', async () => {
  const there = as(recorded('04', 21), 'GET', `/api/v2/workspaces/${WORKSPACE}`);
  const { coder } = await stage([there, recorded('04', 27)]);
  expect(await coder.requestBuild(WORKSPACE, { transition: 'delete' })).toMatchObject({ outcome: 'started' });
});

test('delete with the active version and orphan go out as such', async () => {
  const version = '98a78481-1cd3-401d-bf40-3e467d010448';
  const failed = 'a65b2813-9e68-45b2-b5b3-6d76459f10f3';
  const { coder, replay } = await stage([recorded('05', 16), recorded('05', 21)]);
  await coder.requestBuild(failed, { transition: 'delete', templateVersionId: version, orphan: true });
  expect(replay.received.at(-1)?.body).toEqual({ transition: 'delete', template_version_id: version, orphan: true });
});

test('an identity without template rights may not orphan', async () => {
  const own = '777e15aa-d72a-48fd-a96c-0487cb01cd33';
  const { coder } = await stage([as(running, 'GET', `/api/v2/workspaces/${own}`), recorded('09', 7)]);
  await expect(coder.requestBuild(own, { transition: 'delete', orphan: true })).rejects.toEqual(
    failing('coder_forbidden'),
  );
});

test.each([
  ['a running one', 'asked', undefined, recorded('07', 19), recorded('07', 21)],
  ['one twice', 'asked', undefined, recorded('07', 20), recorded('07', 21)],
  ['one that has failed meanwhile', 'ended', undefined, recorded('07', 20), recorded('07', 24)],
  ['one that is no longer pending', 'moved_on', 'pending', recorded('07', 17), recorded('07', 21)],
] as const)('cancelling %s is told by the job itself: %s', async (_, outcome, expected, answer, workspace) => {
  const { coder } = await stage([answer, buildOf(workspace)]);
  expect(await coder.cancelBuild('01e1460d-505f-4504-b518-4f2e40f7dfe9', expected)).toMatchObject({ outcome });
});

test('[inv-11] gone is a delete job that succeeded and 410 by id', async () => {
  const { coder } = await stage([recorded('04', 30), goneById]);
  expect(await coder.isGone(WORKSPACE, '75a5231f-12c9-4bdd-863c-ca915c7cc06d')).toEqual({ gone: true });
});

test('[inv-11] gone is told without knowing the build', async () => {
  const { coder } = await stage([recorded('04', 21), goneById]);
  expect(await coder.isGone(WORKSPACE)).toEqual({ gone: true });
});

const deleted = recorded('04', 30);
const DELETE_BUILD = '75a5231f-12c9-4bdd-863c-ca915c7cc06d';
const FAILED = 'a65b2813-9e68-45b2-b5b3-6d76459f10f3';
const unseen = as(recorded('02', 31), 'GET', `/api/v2/workspaces/${WORKSPACE}`, 404);

test.each([
  ['404 is not proof', 'unseen', WORKSPACE, DELETE_BUILD, [deleted, unseen]],
  ['still readable', 'still_present', WORKSPACE, DELETE_BUILD, [deleted, running]],
  ['the job still runs', 'delete_active', FAILED, 'f80227cb-c543-4cea-ba9d-ce31270a6626', [recorded('05', 13)]],
  ['the job failed', 'delete_failed', FAILED, 'f80227cb-c543-4cea-ba9d-ce31270a6626', [recorded('05', 14)]],
  ['a start', 'delete_not_asked', WORKSPACE, '04485dd5-4349-4799-936c-8f4a40c29540', [recorded('01', 8)]],
  ['the delete of another', 'delete_not_asked', FAILED, DELETE_BUILD, [deleted]],
] as const)('[inv-11] not gone: %s', async (_, because, workspace, build, script) => {
  const { coder } = await stage(script);
  expect(await coder.isGone(workspace, build)).toEqual({ gone: false, because });
});

test('an extension answers the deadline as read back', async () => {
  const { coder, replay } = await stage([recorded('03', 4), recorded('03', 1)]);
  const extended = await coder.extend(WORKSPACE, '2026-11-30T23:18:09.818Z');
  expect(extended).toEqual({ extended: true, deadline: '2026-11-30T22:18:06.999625Z' });
  expect(replay.received[0]?.body).toEqual(recorded('03', 4).sent);
});

test.each([
  ['building', recorded('01', 6), building],
  ['not_running', recorded('04', 5), recorded('04', 2)],
  ['no_deadline', recorded('03', 10), recorded('03', 12)],
  ['gone', recorded('04', 5), goneById],
] as const)('one 409 of extend is told apart by reading: %s', async (because, conflict, reading) => {
  const { coder } = await stage([conflict, reading]);
  expect(await coder.extend(WORKSPACE, '2026-11-30T23:18:09.945Z')).toEqual({ extended: false, because });
});

test('an extension of less than 30 minutes is refused', async () => {
  const { coder } = await stage([recorded('03', 5)]);
  await expect(coder.extend(WORKSPACE, '2026-11-30T21:58:09.831Z')).rejects.toEqual(failing('coder_refused'));
});

test('null turns autostop off, and a ttl below a minute is refused by its field', async () => {
  const { coder, replay } = await stage([recorded('03', 7), recorded('03', 3)]);
  await coder.setTtl(WORKSPACE, null);
  expect(replay.received[0]?.body).toEqual({ ttl_ms: null });
  await expect(coder.setTtl(WORKSPACE, 1000)).rejects.toEqual(failing('coder_refused', { fields: 'ttl_ms' }));
});
