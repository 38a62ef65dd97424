/** What the system tests share: one Temporal dev server. Stores are a test's own (`store-server.ts`): they start in no time. */
import type { TestProject } from 'vitest/node';
import { startDevServer } from './dev-server.ts';
import { reapOrphans } from './orphans.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** `host:port` of a Temporal dev server with the search attributes; namespace `default`. */
    readonly temporalAddress: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await reapOrphans();
  const temporal = await startDevServer();
  project.provide('temporalAddress', temporal.address);
  return () => temporal.close();
}
