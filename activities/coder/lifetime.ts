/** Coder's own ttl and deadline: a backstop behind our timer. */
import type { Extended } from '../../schemas/coder/workspace.ts';
import { hasEnded } from '../../schemas/coder/build.ts';
import { ask, expectAnswer } from './answer.ts';
import { anyAnswer } from './answers.schema.ts';
import type { CoderClient } from './client.ts';
import type { CallOptions } from './port.ts';
import { readById, signalOf } from './reads.ts';
import { refusalError } from './refusal.ts';

export async function setTtl(
  client: CoderClient,
  workspace: string,
  ttlMs: number | null,
  call: CallOptions = {},
): Promise<void> {
  const request = client.PUT('/api/v2/workspaces/{workspace}/ttl', {
    params: { path: { workspace } },
    body: { ttl_ms: ttlMs },
    ...signalOf(call),
  });
  await expectAnswer('set ttl', anyAnswer, request, call);
}

export async function extend(
  client: CoderClient,
  workspace: string,
  deadline: string,
  call: CallOptions = {},
): Promise<Extended> {
  const operation = 'extend workspace';
  const request = client.PUT('/api/v2/workspaces/{workspace}/extend', {
    params: { path: { workspace } },
    body: { deadline },
    ...signalOf(call),
  });
  const answer = await ask(operation, anyAnswer, request, call);
  if (!answer.ok && answer.refusal.status !== 409) throw refusalError(operation, answer.refusal);
  const reading = await readById(client, workspace, call);
  if (reading.seen !== 'present') return { extended: false, because: reading.seen === 'deleted' ? 'gone' : 'unseen' };
  // One 409 for three conditions: the workspace itself says which.
  const { build } = reading.workspace;
  if (!hasEnded(build.job)) return { extended: false, because: 'building' };
  if (build.transition !== 'start' || build.job !== 'succeeded') return { extended: false, because: 'not_running' };
  if (build.deadline === null) return { extended: false, because: 'no_deadline' };
  if (answer.ok) return { extended: true, deadline: build.deadline };
  throw refusalError(operation, answer.refusal);
}
