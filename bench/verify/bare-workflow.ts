/** The peer: a bare workflow of two no-op activities, the first on another worker's queue. Nothing of ours is in it. */
import { proxyActivities } from '@temporalio/workflow';

interface NoOps {
  first(): Promise<void>;
  second(): Promise<void>;
}

export async function bare(otherQueue: string): Promise<void> {
  const elsewhere = proxyActivities<NoOps>({ taskQueue: otherQueue, startToCloseTimeout: '10s' });
  const here = proxyActivities<NoOps>({ startToCloseTimeout: '10s' });
  await elsewhere.first();
  await here.second();
}
