/** Create or adopt over the answers of a real server. */
import { expect, test } from 'vitest';
import { connectCoder } from '../../activities/coder/connect.ts';
import type { WorkspaceRequest } from '../../schemas/coder/workspace.ts';
import { as, type Exchange, recorded } from './recordings.ts';
import { failing, stage, TOKEN } from './stage.ts';

const request: WorkspaceRequest = {
  owner: 'operator',
  name: 'forge-t42-a',
  templateId: '29d62741-eb40-4742-a36f-57cef88e9d27',
  templateVersionId: '98a78481-1cd3-401d-bf40-3e467d010448',
  run: 'T-42',
  parameters: [
    { name: 'build_seconds', value: '2' },
    { name: 'fail_on', value: 'none' },
    { name: 'start_exit', value: '0' },
  ],
  ttlMs: 1_800_000,
};
const race = { ...request, name: 'race-a' };

const knownParameters = recorded('00', 22);
const created = recorded('01', 0);
const nameInUse = recorded('01', 2);
const raceLost = recorded('07', 0);
const raceWon = recorded('07', 5);

/** By name, deleted ones too, which is how the client looks. */
function named(exchange: Exchange, name: string, status = 200): Exchange {
  return as(exchange, 'GET', `/api/v2/users/me/workspace/${name}?include_deleted=true`, status);
}

const absent = (name: string) => named(recorded('02', 32), name, 404);

function parametersOf(workspace: Exchange, run = 'T-42'): Exchange {
  const build = (workspace.body as { latest_build: { id: string } }).latest_build.id;
  const exchange = as(recorded('01', 16), 'GET', `/api/v2/workspacebuilds/${build}/parameters`);
  const values = exchange.body as { name: string; value: string }[];
  return { ...exchange, body: values.map((v) => (v.name === 'ticket' ? { ...v, value: run } : v)) };
}

test('a workspace is asked for as recorded: name, template, our run among its parameters, ttl', async () => {
  const { coder, replay } = await stage([absent('forge-t42-a'), knownParameters, created]);
  const { how, workspace } = await coder.createOrAdopt(request);
  expect([how, workspace.id, workspace.build.job]).toEqual([
    'created',
    'a2966767-8d91-480e-8a9b-c475ef784e4c',
    'pending',
  ]);
  expect(replay.received.find(({ method }) => method === 'POST')?.body).toEqual(created.sent);
});

test('what an earlier attempt made is adopted without asking again', async () => {
  const { coder, calls } = await stage([named(recorded('01', 12), 'forge-t42-a'), recorded('01', 16)]);
  expect((await coder.createOrAdopt(request)).how).toBe('adopted');
  expect(calls().filter((call) => call.startsWith('POST'))).toEqual([]);
});

test('of six at once, the five that are answered 500 adopt what the sixth made', async () => {
  for (const at of [0, 1, 2, 3, 4]) {
    const { coder } = await stage([
      absent('race-a'),
      knownParameters,
      recorded('07', at),
      named(raceWon, 'race-a'),
      parametersOf(raceWon),
    ]);
    const { how, workspace } = await coder.createOrAdopt(race);
    expect([how, workspace.id]).toEqual(['adopted', (raceWon.body as { id: string }).id]);
  }
});

test('a name that is in use by now is read back and adopted', async () => {
  const { coder } = await stage([
    absent('forge-t42-a'),
    knownParameters,
    nameInUse,
    named(recorded('01', 12), 'forge-t42-a'),
    recorded('01', 16),
  ]);
  expect((await coder.createOrAdopt(request)).how).toBe('adopted');
});

test.each(['cut', 'silent'] as const)('an answer that was lost (%s) is read back', async (fault) => {
  const { coder } = await stage(
    [absent('race-a'), knownParameters, { exchange: raceWon, fault }, named(raceWon, 'race-a'), parametersOf(raceWon)],
    { timeoutMs: 250 },
  );
  expect((await coder.createOrAdopt(race)).how).toBe('adopted');
});

test('a 500 after which nothing carries the name says that it may be asked again', async () => {
  const { coder } = await stage([absent('race-a'), knownParameters, raceLost, absent('race-a')]);
  await expect(coder.createOrAdopt(race)).rejects.toEqual(failing('coder_unavailable', { status: 500 }));
});

test.each([
  ['run', request, 'T-41'],
  ['template', { ...request, templateId: '11111111-1111-4111-8111-111111111111' }, 'T-42'],
  ['owner', { ...request, owner: 'member' }, 'T-42'],
] as const)('a workspace of that name with another %s is not taken over', async (differs, asked, run) => {
  const found = as(
    recorded('01', 12),
    'GET',
    `/api/v2/users/${asked.owner}/workspace/forge-t42-a?include_deleted=true`,
  );
  const script = differs === 'run' ? [found, parametersOf(found, run)] : [found];
  const { coder, calls } = await stage(script);
  await expect(coder.createOrAdopt(asked)).rejects.toEqual(failing('coder_name_taken', { differs }));
  expect(calls().filter((call) => call.startsWith('POST'))).toEqual([]);
});

test('[inv-15] what carries our name and run without our claim codes was made by somebody else, and is not taken over', async () => {
  const parameters = [...request.parameters, { name: 'agent_claim', value: 'only the control plane can know it' }];
  const { coder, calls } = await stage([named(recorded('01', 12), 'forge-t42-a'), recorded('01', 16)]);
  const asked = coder.createOrAdopt({ ...request, parameters });
  await expect(asked).rejects.toEqual(failing('coder_name_taken', { differs: 'parameter agent_claim' }));
  expect(calls().filter((call) => call.startsWith('POST'))).toEqual([]);
});

test('[inv-11] a late attempt does not bring back a workspace that was deleted', async () => {
  const { coder, calls } = await stage([recorded('04', 23)]);
  await expect(coder.createOrAdopt(request)).rejects.toEqual(failing('coder_name_spent', { name: 'forge-t42-a' }));
  expect(calls()).toEqual(['GET /api/v2/users/operator/workspace/forge-t42-a']);
});

test('[inv-10] a template without our run parameter gets no workspace, since none could be found again', async () => {
  const { replay } = await stage([absent('forge-t42-a'), knownParameters]);
  const coder = connectCoder({ url: replay.url, token: TOKEN });
  await expect(coder.createOrAdopt(request)).rejects.toEqual(
    failing('coder_parameter_invalid', { name: 'portcullis_run' }),
  );
  expect(replay.received.every(({ method }) => method === 'GET')).toBe(true);
});

test('[inv-10] a version that came in between and dropped our parameter is noticed on the answer', async () => {
  const { coder } = await stage([
    absent('forge-t42-a'),
    as(knownParameters, 'GET', OTHER_VERSION),
    created,
    parametersOf(created, ''),
  ]);
  const stale = { ...request, templateVersionId: '11111111-1111-4111-8111-111111111111' };
  await expect(coder.createOrAdopt(stale)).rejects.toEqual(failing('coder_name_taken', { differs: 'run' }));
});

const OTHER_VERSION = '/api/v2/templateversions/11111111-1111-4111-8111-111111111111/rich-parameters';

test.each([
  ['an invalid name', recorded('02', 1), 'coder_refused', 'name'],
  ['a ttl below a minute', recorded('02', 17), 'coder_refused', 'ttl_ms'],
  ['an unknown template', recorded('02', 8), 'coder_refused', 'template_id'],
  ['a token that may not create', recorded('02', 27), 'coder_unseen', 'none named'],
  ['no token', recorded('02', 22), 'coder_unauthenticated', 'none named'],
] as const)('%s is refused once, without reading back', async (_, refusal, code, fields) => {
  const { coder, calls } = await stage([absent('forge-t42-a'), knownParameters, refusal]);
  await expect(coder.createOrAdopt(request)).rejects.toEqual(failing(code, { fields }));
  expect(calls()).toHaveLength(3);
});
