import { beforeEach, describe, expect, test } from 'vitest';
import type { SignedAuditEntry } from '../../schemas/audit.ts';
import { digestOf } from '../../schemas/digest.ts';
import type { LandAnswer, LandRequest } from '../../schemas/git/activities.ts';
import { generateSigningKey } from '../signing/keys.ts';
import { landEntered, type LandAudit } from './land-audit.ts';

const REQUEST: LandRequest = {
  tenant: 'local',
  pair: 'T-1',
  remote: null,
  branch: 'main',
  expectedOld: 'a'.repeat(40),
  candidate: 'c'.repeat(40),
  holder: 'ticket/local/T-1',
  evaluationKey: digestOf('gate-evaluation', {}),
  epoch: 3,
};
const LANDED: LandAnswer = {
  outcome: 'landed',
  commit: REQUEST.candidate,
  fencing: 1,
  epoch: null,
  incident: false,
};

let entries: SignedAuditEntry['entry'][];
let needs: LandAudit;
beforeEach(() => {
  entries = [];
  const store: LandAudit['store'] = {
    async appendAuditOnce(_, make) {
      entries.push((await make({ n: 0, digest: null })).entry);
    },
  };
  needs = { store, actionKey: generateSigningKey() };
});
const events = () => entries.map(({ event }) => event);

describe('a landing', () => {
  test('[inv-01] is in the chain before the branch moves, and again when it was read back, with the decision it rests on', async () => {
    const answer = await landEntered(needs, REQUEST, () => {
      expect(events()).toEqual(['merge_intent']);
      return Promise.resolve(LANDED);
    });
    expect(answer).toEqual(LANDED);
    expect(events()).toEqual(['merge_intent', 'merged']);
    const { pair: ticket, expectedOld: base, candidate, evaluationKey: evaluation, branch } = REQUEST;
    const refs = { ticket, repository: 'own', branch, base, candidate, evaluation };
    for (const entry of entries) expect(entry).toMatchObject({ refs, writer: 'control', tenant: 'local' });
  });

  test.each<LandAnswer>([
    { outcome: 'base_moved', now: null },
    { outcome: 'refused', by: 'authority', reason: 'it does not apply' },
    { outcome: 'busy', retryAfterMs: 1 },
  ])('that comes to $outcome is no merge', async (answer) => {
    expect(await landEntered(needs, REQUEST, () => Promise.resolve(answer))).toEqual(answer);
    expect(events()).toEqual(['merge_intent']);
  });

  test('that nobody could enter is not begun', async () => {
    const away = { appendAuditOnce: () => Promise.reject(new Error('the store is away')) };
    const landing = () => Promise.reject(new Error('it was begun'));
    await expect(landEntered({ ...needs, store: away }, REQUEST, landing)).rejects.toThrow('the store is away');
  });
});
