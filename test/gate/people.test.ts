/** People at a gate: how their word becomes evidence in a real store, and what does not. */
import { describe, expect, test } from 'vitest';
import { gateReader } from '../../activities/store/gate-reader.ts';
import { readCredential } from '../../activities/store/credentials.ts';
import { recordPerson, type PersonDependencies } from '../../activities/ticket/person.ts';
import { personsCommands } from '../../cli/gate/show.ts';
import { showGate } from '../../gateway/operator/gates.ts';
import type { CredentialRecord } from '../../schemas/credential.ts';
import type { PersonAsked } from '../../schemas/ticket/activities.ts';
import { moveExecution, stagedSubject, StagedSubject, TENANT, useGateStage } from '../support/gate-stage.ts';
import { worldOf } from '../support/gate-fixtures.ts';

const stage = useGateStage();
let credentials = 0;

/** An operator's credential unless the change says otherwise; answers its id. */
async function person(change: Partial<CredentialRecord> = {}): Promise<string> {
  const { control } = stage();
  const id = `c-${(credentials += 1)}`;
  const { state, ...record }: CredentialRecord = {
    schema: 'portcullis/credential/v1',
    id,
    tenant: TENANT,
    pair: '',
    role: 'operator',
    use: 'operator',
    workspace: '',
    workspaceGeneration: 0,
    execution: '',
    expiresAt: (await control.now()) + 3_600_000,
    state: 'active',
    ...change,
  };
  await control.writeCredential({ ...record, state: 'active' }, null);
  if (state === 'revoked') await control.revokeCredential(TENANT, id);
  return id;
}

async function needs(): Promise<PersonDependencies> {
  const connection = await stage().connect('control');
  return { evidence: stage().needs, readCredential: (tenant, id) => readCredential(connection, tenant, id) };
}

function asked(subject: StagedSubject, by: string, change: Partial<PersonAsked> = {}): PersonAsked {
  return {
    tenant: TENANT,
    ticket: subject.world.subject.missionId,
    by,
    gate: subject.world.gate,
    subjectDigest: subject.digest,
    decision: 'approve',
    case: null,
    reason: 'read the plan',
    expiresAt: null,
    ...change,
  };
}

/** A plan of this risk for which everything but people is there. */
async function planned(risk: 'high' | 'critical' = 'high'): Promise<StagedSubject> {
  const subject = await stagedSubject(stage(), 'plan', { risk: { class: risk, securityRequirementRevision: 1 } });
  for (const { checkId } of subject.world.subject.requiredChecks) await subject.check(stage(), 'passed', checkId);
  await subject.run(stage());
  return subject;
}

const wordOf = async (subject: StagedSubject) => (await subject.evaluate(stage())).decision;

test('a person’s approval is evidence: the next evaluation of the same subject passes, and the reason is kept', async () => {
  const subject = await planned();
  expect(await wordOf(subject)).toBe('human_required');
  const reading = { reader: gateReader(await stage().connect('reader')), keys: stage().needs.gateKeys };
  const { missionId: ticket } = subject.world.subject;
  expect(personsCommands(await showGate(reading, TENANT, ticket))).toEqual([
    `portcullis gate decide ${ticket} --decision approve --reason …`,
    `portcullis ticket decide ${ticket} --decision retry --reason …`,
  ]);
  expect(await recordPerson(await needs(), asked(subject, await person()))).toMatchObject({ kind: 'recorded' });
  expect(await wordOf(subject)).toBe('pass');
  const { evidence } = await showGate(reading, TENANT, ticket);
  expect(evidence.filter(({ kind }) => kind === 'human')).toMatchObject([
    { status: 'approve', detail: 'plan: read the plan' },
  ]);
});

test('[inv-08] the same decision again, also beside itself, is one record', async () => {
  const subject = await planned();
  const given = asked(subject, await person());
  const [first, second] = await Promise.all([needs(), needs()]);
  const answers = await Promise.all([
    recordPerson(first, given),
    recordPerson(second, given),
    recordPerson(first, given),
  ]);
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
  const { set } = await evidenceOf(subject);
  expect(set).toHaveLength(1);
  expect(set[0]).toMatchObject({
    principal: { id: given.by, lineage: [] },
    role: 'operator',
    selfReview: false,
    policyRevision: subject.world.policy.revision,
  });
});

async function evidenceOf(subject: StagedSubject) {
  const { evidence } = stage().needs;
  const { entries } = await evidence.readIndex(TENANT, `ns:${TENANT}:index:subject:${subject.digest.slice(7)}`);
  const named = entries.flatMap((entry) => (entry.schema !== 'malformed' && entry.family === 'human' ? [entry] : []));
  const items = await evidence.readItems(TENANT, named);
  return { set: items.map(({ record }) => record) };
}

describe('[inv-05] a decision that nobody of authority made', () => {
  test.each([
    ['an agent', { role: 'sentinel', use: 'agent', pair: 'T-1' }],
    ['an executor', { role: 'verifier', use: 'executor', pair: 'T-1' }],
    ['a revoked operator', { state: 'revoked' }],
    ['an expired operator', { expiresAt: 1 }],
  ] as const)('%s is refused and nothing is recorded', async (_, change) => {
    const subject = await planned();
    const answer = await recordPerson(await needs(), asked(subject, await person(change)));
    expect(answer).toMatchObject({ kind: 'refused', refusal: { code: 'not_allowed' } });
    expect((await evidenceOf(subject)).set).toEqual([]);
    expect(await wordOf(subject)).toBe('human_required');
  });

  test('an operator of another tenant, and one that never was, are refused', async () => {
    const subject = await planned();
    const other: PersonDependencies = {
      ...(await needs()),
      readCredential: async (tenant, id) => {
        const record = await readCredential(await stage().connect('control'), tenant, id);
        return record === null ? null : { ...record, tenant: 'other' };
      },
    };
    for (const [from, by] of [
      [other, await person()],
      [await needs(), 'c-never'],
    ] as const) {
      expect(await recordPerson(from, asked(subject, by))).toMatchObject({ refusal: { code: 'not_allowed' } });
    }
  });
});

test('[inv-03] a decision about a subject that was superseded, or an execution that ended, is history and counts nowhere', async () => {
  const subject = await planned();
  const by = await person();
  const { world } = subject;
  const manifest = { ...world.subject, stateRevision: world.subject.stateRevision + 1 };
  await stage().evidence.registerSubject({ tenant: TENANT, manifest });
  expect(await recordPerson(await needs(), asked(subject, by))).toMatchObject({
    refusal: { code: 'ticket_mismatch', details: { what: 'subject' } },
  });
  const next = new StagedSubject(worldOf('plan', { subject: manifest }));
  await moveExecution(stage().control, manifest, 'exec-2', 2);
  expect(await recordPerson(await needs(), asked(next, by))).toMatchObject({
    refusal: { code: 'ticket_mismatch', details: { what: 'execution' } },
  });
  expect((await evidenceOf(subject)).set).toEqual([]);
});

describe('[inv-19] what does not fit is refused by name', () => {
  test.each([
    ['of another gate', { gate: 'merge' }, 'ticket_mismatch'],
    ['for another ticket', { ticket: 'T-other' }, 'ticket_mismatch'],
    ['that is past', { expiresAt: 1 }, 'schema_invalid'],
    ['of a rejection that would lapse', { decision: 'reject', expiresAt: Number.MAX_SAFE_INTEGER }, 'schema_invalid'],
    ['with a case that it does not override', { case: 'inconclusive' }, 'schema_invalid'],
    ['that overrides nothing', { decision: 'override' }, 'schema_invalid'],
    // The shipped policy of the plan lists three cases; this is not among them.
    [
      'that overrides what the policy does not list',
      { decision: 'override', case: 'definition_changed' },
      'override_refused',
    ],
  ] as const)('a decision %s', async (_, change, code) => {
    const subject = await planned();
    const answer = await recordPerson(await needs(), asked(subject, await person(), change));
    expect(answer).toMatchObject({ kind: 'refused', refusal: { code } });
    expect((await evidenceOf(subject)).set).toEqual([]);
  });
});

test('one person counts once, however often they say it; another makes two', async () => {
  const subject = await stagedSubject(stage(), 'merge', {
    risk: { class: 'critical', securityRequirementRevision: 1 },
  });
  const [one, two] = [await person(), await person()];
  const missing = async () => {
    const { reasons } = await subject.evaluate(stage());
    return reasons.filter(({ code }) => code === 'human_missing').length;
  };
  expect(await missing()).toBe(1);
  await recordPerson(await needs(), asked(subject, one));
  await recordPerson(await needs(), asked(subject, one, { reason: 'and once more' }));
  expect((await evidenceOf(subject)).set).toHaveLength(2);
  expect(await missing()).toBe(1);
  await recordPerson(await needs(), asked(subject, two));
  expect(await missing()).toBe(0);
});

test('an approval that has run out counts no more, and a rejection does not run out', async () => {
  const subject = await planned();
  const soon = (await stage().control.now()) + 2_000;
  await recordPerson(await needs(), asked(subject, await person(), { expiresAt: soon }));
  const { evaluationKey, decision } = await subject.evaluate(stage());
  expect(decision).toBe('pass');
  await expect
    .poll(async () => (await stage().evidence.decisionApplies({ tenant: TENANT, evaluationKey })).applicability, {
      timeout: 5_000,
    })
    .toBe('expired');
  await recordPerson(await needs(), asked(subject, await person(), { decision: 'reject' }));
  expect(await wordOf(subject)).toBe('rework');
});
