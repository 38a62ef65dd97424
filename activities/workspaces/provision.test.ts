import { expect, test } from 'vitest';
import { needsOf, quickPulse, readingOf } from '../../test/support/workspace-fakes.ts';
import type { ClaimCodeRecord, CredentialRecord } from '../../schemas/credential.ts';
import { runOfTicket } from '../../test/support/workspace-runs.ts';
import { TEMPLATE_PARAMETERS } from '../../schemas/workspace/parameters.ts';
import type { WorkspaceRequest } from '../../schemas/coder/workspace.ts';
import { claimNames } from './claims.ts';
import { createWorkspace, resolveTemplate, writeWorkspaceCredentials } from './provision.ts';

const workspace = runOfTicket('T-1');
const plan = {
  template: 'development',
  engine: 'command',
  model: 'default',
  maxWorkers: 3,
  ttlSeconds: 1800,
  maxTtlSeconds: 3600,
  executorRole: 'forge',
  agent: true,
  readOnly: false,
  workforceRevision: '',
} as const;
const template = { templateId: 't1', templateVersionId: 'v1' };
const source = { head: 'a'.repeat(40), branch: 'portcullis/T-1' };

test('[inv-15] only the digest of a claim code is stored, a repeated create carries the same code, and nothing else does', async () => {
  const written: { record: CredentialRecord; codeHex: string; code: ClaimCodeRecord }[] = [];
  const asked: WorkspaceRequest[] = [];
  const seats: unknown[] = [];
  const needs = await needsOf({
    lifecycle: { seatWorkspace: (...args) => (seats.push(args), Promise.resolve()) },
    store: {
      writeCredential: (record, code) => {
        if (code !== null) written.push({ record, codeHex: code.codeHex, code: code.record });
        return Promise.resolve();
      },
    },
    port: {
      createOrAdopt: (request) => {
        asked.push(request);
        return Promise.reject(new Error('the answer was lost'));
      },
    },
  });
  const credentials = { workspace, plan, execution: 'e1', expiresAt: 9_000, claimUntil: 5_000 };
  const ids = await writeWorkspaceCredentials(needs, credentials);
  expect(await writeWorkspaceCredentials(needs, credentials)).toEqual(ids);
  // The seat comes first: a credential of a workspace that serves no role would be refused at the door.
  expect(seats[0]).toEqual(['local', 'T-1', 'forge', { name: workspace.name, generation: 1 }]);
  for (let times = 0; times < 2; times += 1) {
    const creating = createWorkspace(needs, { workspace, plan, template, source, backstopMs: 60_000 });
    await expect(creating).rejects.toThrow('the answer was lost');
  }
  expect(asked[1]).toEqual(asked[0]);
  const value = (name: string) => asked[0]?.parameters.find((one) => one.name === name)?.value ?? '';
  const codes = [value(TEMPLATE_PARAMETERS.executorClaim), value(TEMPLATE_PARAMETERS.agentClaim)];
  expect(codes.map((code) => claimNames(code).credentialId)).toEqual(ids);
  expect(written.slice(0, 2).map(({ record }) => record.use)).toEqual(['executor', 'agent']);
  expect(written.every(({ code }) => code.expiresAt === 5_000)).toBe(true);
  for (const code of codes) expect(JSON.stringify(written)).not.toContain(code);
  expect(new Set(codes).size).toBe(2);
});

test('a role without an agent is given no code for one', async () => {
  const asked: WorkspaceRequest[] = [];
  const port = {
    createOrAdopt: (request: WorkspaceRequest) => {
      asked.push(request);
      return Promise.reject(new Error('enough'));
    },
  };
  const without = { ...plan, agent: false, executorRole: null };
  const request = { workspace, plan: without, template, source, backstopMs: 60_000 };
  await expect(createWorkspace(await needsOf({ port }), request)).rejects.toThrow('enough');
  const claims = [TEMPLATE_PARAMETERS.executorClaim, TEMPLATE_PARAMETERS.agentClaim] as readonly string[];
  expect(asked[0]?.parameters.filter(({ name }) => claims.includes(name)).map(({ value }) => value)).toEqual(['', '']);
});

test.each([
  ['created', 0, true],
  ['created', 3, false],
  // It was read, and a read of a pending build says 0 whatever there is.
  ['adopted', 0, false],
] as const)(
  'a pending build that was %s with %i provisioners: unserved is %s',
  async (how, provisionersAvailable, unserved) => {
    const reading = readingOf({ job: 'pending', provisionersAvailable });
    if (reading.seen !== 'present') throw new Error('the reading shows nothing');
    const port = { createOrAdopt: () => Promise.resolve({ how, workspace: reading.workspace }) };
    const request = { workspace, plan, template, source, backstopMs: 60_000 };
    expect(await createWorkspace(await needsOf({ port }), request)).toMatchObject({ how, unserved });
  },
);

const usable = {
  id: 't1',
  name: 'development',
  organizationId: 'o',
  activeVersionId: 'v1',
  deprecated: false,
  deleted: false,
  defaultTtlMs: 0,
  activityBumpMs: 0,
  failureTtlMs: 0,
  timeTilDormantMs: 0,
  userMayCancel: true,
};
const parameters = Object.values(TEMPLATE_PARAMETERS).map((name) => ({
  name,
  type: 'string',
  required: false,
  mutable: true,
  defaultValue: '',
  options: [],
}));

test.each([
  ['deprecated', { deprecated: true }],
  ['activity moves its deadline', { activityBumpMs: 3_600_000 }],
  ['dormant', { timeTilDormantMs: 1 }],
] as const)('[inv-12] a template is refused when %s', async (reason, change) => {
  const port = {
    template: () => Promise.resolve({ ...usable, ...change }),
    templateParameters: () => Promise.resolve(parameters),
  };
  const resolving = resolveTemplate(await needsOf({ port }), plan, quickPulse());
  await expect(resolving).rejects.toMatchObject({ code: 'workspace_template_refused' });
  await expect(resolving).rejects.toThrow(reason);
});

test('a template that lacks one of our parameters is refused before anything is made', async () => {
  const port = {
    template: () => Promise.resolve(usable),
    templateParameters: () => Promise.resolve(parameters.filter(({ name }) => name !== TEMPLATE_PARAMETERS.run)),
  };
  await expect(resolveTemplate(await needsOf({ port }), plan, quickPulse())).rejects.toMatchObject({
    code: 'coder_parameter_invalid',
    details: { name: TEMPLATE_PARAMETERS.run },
  });
});
