/** Which Coder server is looked at, with whose token, and which templates it must have. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadWorkspaceRegistry } from '../../activities/workspaces/registry.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { Settings } from '../../schemas/settings.ts';
import { KEY_FILES, readSecret } from '../keys.ts';
import type { LocalState, StatePaths } from '../state.ts';
import { localCoderUrl } from '../supervisor/coder-plan.ts';
import type { CoderExamination } from './coder.ts';

/**
 * The server that the settings name, else the running stack's own; `null` when there is none.
 * @throws `setting_invalid` for a server without a token
 */
export function coderAccess(
  settings: Settings,
  paths: StatePaths,
  running: LocalState | null,
): Omit<CoderExamination, 'templates'> | null {
  const organization = settings.text('coder.organization');
  const named = settings.get('coder.url');
  const keys = settings.get('keys.dir');
  if (named !== null) {
    // The local stack's token is not for a server of somebody else's.
    const token = settings.get('coder.token') ?? (keys === null ? null : lifecycleToken(keys));
    if (token !== null) return { url: named, token, organization };
    throw portcullisError('setting_invalid', { name: 'coder.token', reason: 'is needed with coder.url' });
  }
  if (running === null || running.parts.coder.state === 'external') return null;
  const token = lifecycleToken(keys ?? paths.keys);
  if (token !== null) return { url: localCoderUrl(running.ports), token, organization };
  throw portcullisError('setting_invalid', { name: 'keys.dir', reason: 'has no token for the local Coder' });
}

/** Template of each role, once each, with the longest TTL that any of its roles allows. */
export async function coderTemplates(): Promise<CoderExamination['templates']> {
  const { registry } = await loadWorkspaceRegistry();
  const longest = new Map<string, number>();
  for (const { template, maxTtlSeconds } of Object.values(registry.agents)) {
    longest.set(template, Math.max(maxTtlSeconds, longest.get(template) ?? 0));
  }
  return [...longest].map(([name, maxTtlSeconds]) => ({ name, maxTtlSeconds }));
}

/** Of the identity that makes workspaces. @throws `setting_invalid` when others could read it */
function lifecycleToken(directory: string): string | null {
  const file = join(directory, KEY_FILES.coderToken('lifecycle'));
  return existsSync(file) ? readSecret(file) : null;
}
