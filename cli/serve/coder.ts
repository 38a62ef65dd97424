/** The Coder server that the control worker uses, from the settings; the tokens also from key files. */
import { existsSync } from 'node:fs';
import { KEY_FILES, readSecret } from '../../local/keys.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { SettingKey } from '../../schemas/settings.ts';
import type { CoderServerSettings, WorkspaceSettings } from '../../workers/control/workspaces.ts';
import type { CliContext } from '../context.ts';
import { keyFile } from './files.ts';

/** @throws `setting_invalid` for a server without a token */
export function workspaceSettings(context: CliContext): WorkspaceSettings {
  const coder = coderServer(context);
  const staleAfterMs = context.settings.number('workspace.stale-secs') * 1000;
  return coder === null
    ? { coder, staleAfterMs }
    : { coder, staleAfterMs, claimKeyFile: keyFile(context, KEY_FILES.claim) };
}

function coderServer(context: CliContext): CoderServerSettings | null {
  const { settings } = context;
  const url = settings.get('coder.url');
  if (url === null) return null;
  const token = secret(context, 'coder.token', KEY_FILES.coderToken('lifecycle'));
  if (token === null)
    throw portcullisError('setting_invalid', { name: 'coder.token', reason: 'is needed with coder.url' });
  return {
    url,
    token,
    chatToken: secret(context, 'coder.chat-token', KEY_FILES.coderToken('chat')),
    breakGlassToken: secret(context, 'coder.break-glass-token', KEY_FILES.coderToken('break-glass')),
    organization: settings.text('coder.organization'),
    owner: settings.text('coder.owner'),
    sweepUrl: settings.get('coder.sweep-url'),
  };
}

/** The setting, else the key file where there is one. */
function secret(context: CliContext, setting: SettingKey, file: string): string | null {
  const value = context.settings.get(setting);
  if (value !== null) return value;
  const path = keyFile(context, file);
  return existsSync(path) ? readSecret(path) : null;
}
