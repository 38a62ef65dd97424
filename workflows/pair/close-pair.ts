/** `closePair`: every credential of a pair is revoked, so nothing of it can act any more. */
import { proxyActivities } from '@temporalio/workflow';
import type { PairActivities } from '../../schemas/pair-activities.ts';
import type { ClosePairInput, ClosePairResult } from '../../schemas/verify/workflow.ts';
import { PAIR_OPTIONS } from './options.ts';

const { revokePair } = proxyActivities<PairActivities>(PAIR_OPTIONS);

export async function closePair({ tenant, pair, by }: ClosePairInput): Promise<ClosePairResult> {
  return { pair, revoked: await revokePair({ tenant, pair, by }) };
}
