/** Finding workspaces by the run they carry, and logs after a known line. */
import { expect, test } from 'vitest';
import { as, type Exchange, recorded } from './recordings.ts';
import { failing, stage } from './stage.ts';

const byRun = recorded('01', 19);
const parameters = recorded('01', 16);

const list = (q: string, exchange = byRun): Exchange =>
  as(exchange, 'GET', `/api/v2/workspaces?q=${encodeURIComponent(q)}`);

test('a run finds its workspace through the search of the server', async () => {
  const { coder } = await stage([byRun, parameters]);
  const found = await coder.listByRun('operator', 'T-42');
  expect(found.map(({ workspace, run }) => [workspace.name, run])).toEqual([['forge-t42-a', 'T-42']]);
});

test('what the search finds by another case is not ours', async () => {
  const { coder } = await stage([list('owner:operator param:ticket=t-42'), parameters]);
  expect(await coder.listByRun('operator', 't-42')).toEqual([]);
});

test.each(['T-42 owner:other', 'a:b', '"x"', ''])(
  'a run that a search would read as more (%j) is refused',
  async (run) => {
    const { coder, calls } = await stage([]);
    await expect(coder.listByRun('operator', run)).rejects.toEqual(failing('coder_parameter_invalid'));
    expect(calls()).toEqual([]);
  },
);

test('a workspace without our parameter is listed as nobody’s', async () => {
  const none = { ...parameters, body: [{ name: 'other', value: 'T-42' }] };
  const { coder } = await stage([list('owner:operator'), none]);
  expect((await coder.listOwned('operator')).map(({ run }) => run)).toEqual([null]);
});

test('all pages are read, and a workspace that slipped from one to the next is there once', async () => {
  const [workspace] = (byRun.body as { workspaces: Record<string, unknown>[] }).workspaces;
  const pages = [page(workspace!, 0, 100), page(workspace!, 99, 7)];
  const { coder, replay } = await stage([...pages, ...Array.from({ length: 106 }, () => parameters)]);
  const owned = await coder.listOwned('operator');
  expect(new Set(owned.map((one) => one.workspace.id)).size).toBe(106);
  expect(owned).toHaveLength(106);
  const asked = replay.received.filter(({ path }) => path.includes('/workspaces?')).map(({ path }) => path);
  expect(asked.map((path) => new URL(path, 'http://x').searchParams.get('offset'))).toEqual(['0', '100']);
});

function page(workspace: Record<string, unknown>, from: number, length: number): Exchange {
  const workspaces = Array.from({ length }, (_, index) => ({ ...workspace, id: `w${from + index}` }));
  return { ...list('owner:operator'), body: { workspaces, count: 106 } };
}

test('lines of a build come after a known one', async () => {
  const after = recorded('10', 6);
  const build = after.path.split('/')[4] ?? '';
  const { coder, replay } = await stage([after]);
  const lines = await coder.buildLogs(build, 3124);
  expect(replay.received[0]?.path).toContain('after=3124');
  expect(lines[0]).toMatchObject({ level: expect.any(String) as string, stage: expect.any(String) as string });
  expect(lines.every(({ id }) => id > 3124)).toBe(true);
});

test('lines of an agent have no stage', async () => {
  const { coder } = await stage([recorded('01', 14)]);
  expect(await coder.agentLogs('c5e4b6e6-4010-4b46-9bc4-ecdd9087f4e3')).toMatchObject([{ stage: '', text: 'startup' }]);
});

test('a template that is not visible is told as unseen', async () => {
  const organization = recorded('00', 20).path.split('/')[4] ?? '';
  const { coder } = await stage([recorded('00', 20)]);
  await expect(coder.template(organization, 'no-such-template')).rejects.toEqual(failing('coder_unseen'));
});

test('a template is found by the names of organization and template', async () => {
  const { coder } = await stage([recorded('00', 21)]);
  expect(await coder.template('coder', 'development')).toMatchObject({
    id: '29d62741-eb40-4742-a36f-57cef88e9d27',
    activeVersionId: '98a78481-1cd3-401d-bf40-3e467d010448',
    activityBumpMs: expect.any(Number) as number,
    deprecated: false,
  });
});
