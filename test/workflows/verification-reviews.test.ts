/** One review for each verifier class that the policy requires, on the real workflow; activities and agents are scripted. */
import { Client, Connection, WorkflowFailedError } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { PlannedReview } from '../../schemas/verification/activities.ts';
import type { AgentTurn } from '../../schemas/workspace/agent.ts';
import {
  APPROVED,
  bundleVerification,
  CONTRACT_CHECK,
  playVerification,
  REJECTED,
  UNPARSEABLE,
  type StagedVerification,
  type VerificationScript,
  type VerificationTheatre,
} from './verification-stage.ts';

const BOTH: readonly PlannedReview[] = [
  { verifierClass: 'reviewer', seat: 1 },
  { verifierClass: 'security', seat: 1 },
];

let theatre: VerificationTheatre;
let close: () => Promise<void>;
beforeAll(async () => {
  const address = inject('temporalAddress');
  const [connection, plain, workflowBundle] = await Promise.all([
    NativeConnection.connect({ address }),
    Connection.connect({ address }),
    bundleVerification(),
  ]);
  theatre = { client: new Client({ connection: plain }), connection, workflowBundle };
  close = async () => {
    await Promise.all([connection.close(), plain.close()]);
  };
});
afterAll(() => close());

/** Activities in the order in which they were asked for. */
async function asked({ handle }: StagedVerification): Promise<readonly string[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? [],
  );
}

const sentinels = ({ started }: StagedVerification) => started.filter((run) => run.startsWith('sentinel/'));

// Each play has a queue and a ticket of its own, and mostly waits.
describe.concurrent('a verification with two required classes', () => {
  test('[inv-02] asks each in a fresh workspace of its own, and all approve or it is no approval', async () => {
    await playVerification(theatre, 'both', { reviews: BOTH }, async (staged) => {
      const outcome = await staged.handle.result();
      expect(outcome).toMatchObject({ outcome: 'reviewed', route: 'proceed' });
      expect(new Set(sentinels(staged)).size).toBe(2);
      expect((await asked(staged)).filter((name) => name === 'concludeReview')).toHaveLength(2);
      // Two records, one of each: nothing of the first is lost under the second.
      expect(outcome.refs.length).toBeGreaterThanOrEqual(2);
      expect(staged.gone).toEqual(expect.arrayContaining(sentinels(staged)));
    });
  });

  test('[inv-02] hears the second that rejects, after the first approved', async () => {
    const reading = (look: number) => (look === 0 ? APPROVED : REJECTED);
    await playVerification(theatre, 'second-rejects', { reviews: BOTH, reading }, async (staged) => {
      expect(await staged.handle.result()).toMatchObject({
        ...{ outcome: 'reviewed', route: 'retry_producer', failureClass: 'off-by-one' },
        ...{ reviewDigest: REJECTED.digest, unreadable: false },
      });
    });
  });

  test('asks nobody else once one rejects: that subject cannot pass', async () => {
    await playVerification(theatre, 'first-rejects', { reviews: BOTH, reading: () => REJECTED }, async (staged) => {
      expect(await staged.handle.result()).toMatchObject({ outcome: 'reviewed', route: 'retry_producer' });
      expect(sentinels(staged)).toHaveLength(1);
    });
  });

  test('[inv-07] is unavailable when one of them is, whatever the other said', async () => {
    const workspace = (role: string, n: number) => role !== 'sentinel' || n <= 2;
    await playVerification(theatre, 'second-away', { reviews: BOTH, workspace }, async (staged) => {
      expect(await staged.handle.result()).toMatchObject({ outcome: 'unavailable', reason: 'provider_error' });
      // It was tried again in a fresh workspace, whose name was used for nothing else.
      expect(new Set(sentinels(staged)).size).toBe(3);
    });
  });
});

describe.concurrent('a verdict that cannot be read', () => {
  test('is asked for once more with the reason, and the second one is a person’s, which no reviewer asked for', async () => {
    const prompts: string[] = [];
    const agent = ({ prompt }: AgentTurn) => {
      prompts.push(prompt);
      return Promise.resolve(null);
    };
    await playVerification(theatre, 'unread-twice', { reading: () => UNPARSEABLE, agent }, async (staged) => {
      const outcome = await staged.handle.result();
      expect(outcome).toMatchObject({ outcome: 'reviewed', route: 'human', unreadable: true });
      expect(prompts).toHaveLength(2);
      expect(prompts[1]).toContain(UNPARSEABLE.reask);
      expect(sentinels(staged)).toHaveLength(1);
    });
  });
});

describe.concurrent('a review that is cut short', () => {
  test('[inv-04] leaves no approval behind that could still be used', async () => {
    const agent: VerificationScript['agent'] = async (_, { handle }) => {
      await handle.cancel();
      return { outcome: 'errored', message: '', kind: 'cancelled' };
    };
    await playVerification(theatre, 'cut-short', { agent }, async (staged) => {
      await expect(staged.handle.result()).rejects.toBeInstanceOf(WorkflowFailedError);
      expect(staged.abandoned).toEqual(['approval-1']);
      expect(staged.gone).toEqual(staged.started);
    });
  });
});

describe.concurrent('evidence that decides already', () => {
  const hits = [{ code: 'evidence_missing_record', ref: 'e-1' }] as const;

  test('[inv-02] that was tampered with: no reviewer is asked, and the answer says that the gate decides', async () => {
    await playVerification(theatre, 'tampered', { verifierNeeded: false, hits }, async (staged) => {
      expect(await staged.handle.result()).toMatchObject({ outcome: 'checked', settled: true, hits });
      expect(sentinels(staged)).toEqual([]);
    });
  });

  test('[inv-02] that nobody can read: the same, and not a fault of whoever ran it', async () => {
    await playVerification(theatre, 'unreadable', { preflightFails: 'record_unreadable' }, async ({ handle }) => {
      expect(await handle.result()).toMatchObject({ outcome: 'checked', settled: true });
    });
  });
});

describe.concurrent('the contract of a plan', () => {
  test('[inv-06] is recorded after the review it rests on is concluded, once, and by the general reviewer alone', async () => {
    const script = { gate: 'plan', checks: [CONTRACT_CHECK], reviews: BOTH } as const;
    await playVerification(theatre, 'contract', script, async (staged) => {
      await staged.handle.result();
      const names = await asked(staged);
      expect(names.filter((name) => name === 'recordCheck')).toHaveLength(1);
      expect(names.indexOf('recordCheck')).toBeGreaterThan(names.indexOf('concludeReview'));
      expect(names.indexOf('recordCheck')).toBeLessThan(names.lastIndexOf('concludeReview'));
    });
  });

  test('[inv-04] of a review that is history is none', async () => {
    const script = { gate: 'plan', checks: [CONTRACT_CHECK], stale: true } as const;
    await playVerification(theatre, 'contract-stale', script, async (staged) => {
      expect(await staged.handle.result()).toMatchObject({ outcome: 'unavailable', reason: 'subject_superseded' });
      expect(await asked(staged)).not.toContain('recordCheck');
    });
  });
});
