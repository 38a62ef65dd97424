/** Coder's own time to live: what is accepted, and how little of it reaches a build that runs. */
import { isActive } from '../builds/status.ts';
import { lastBuild } from '../builds/request.ts';
import type { LocalCoderContext } from '../context.ts';
import { refuse, refuseFields, refuseTag } from '../http/refusal.ts';
import type { Workspace } from '../state/records.ts';

const MINUTE_MS = 60_000;
const LONGEST_MS = 30 * 24 * 60 * MINUTE_MS;
/** The least that an extension must lie ahead. */
const EXTENSION_MS = 30 * MINUTE_MS;

/** Whole minutes; null turns autostop off. @throws 400 naming `ttl_ms` */
export function checkTtl(ttlMs: number | null, message: string): number | null {
  if (ttlMs === null || ttlMs === 0) return null;
  const refusal = (detail: string) => refuseFields(message, [{ field: 'ttl_ms', detail }]);
  if (ttlMs < MINUTE_MS) throw refusal('time until shutdown must be at least one minute');
  if (ttlMs > LONGEST_MS) throw refusal('time until shutdown must be less than 30 days');
  return ttlMs - (ttlMs % MINUTE_MS);
}

/** Counts from the next start. Only null acts at once, and what it took away does not come back with a later ttl. */
export function putTtl(coder: LocalCoderContext, workspace: Workspace, ttlMs: number | null): void {
  const { state, changes } = coder;
  const checked = checkTtl(ttlMs, 'Error updating workspace time until shutdown.');
  state.workspaces.put({ ...workspace, ttlMs: checked });
  if (checked === null) state.builds.put({ ...lastBuild(coder, workspace), deadline: null });
  changes.say(workspace.id);
}

/** Returns the sentence that the server answers. @throws 400, 409 */
export function extend(coder: LocalCoderContext, workspace: Workspace, deadline: string | null): string {
  if (deadline === null || Number.isNaN(Date.parse(deadline))) {
    throw refuseTag(['deadline', 'required', '0001-01-01 00:00:00 +0000 UTC']);
  }
  const build = lastBuild(coder, workspace);
  if (isActive(build.job)) throw refuse(409, 'Workspace is still building!');
  if (build.transition !== 'start') {
    throw refuse(409, `Workspace must be started, current status: ${build.transition}`);
  }
  if (build.deadline === null) throw refuse(409, 'Workspace shutdown is manual.');
  const wanted = Math.floor(Date.parse(deadline) / 1000) * 1000;
  if (wanted < coder.clock.now().getTime() + EXTENSION_MS) {
    throw refuse(400, 'Cannot extend workspace: new deadline must be at least 30 minutes in the future');
  }
  const text = new Date(wanted).toISOString();
  coder.state.builds.put({ ...build, deadline: text });
  coder.changes.say(workspace.id);
  return `Deadline updated to ${text.slice(0, 19)}Z.`;
}
