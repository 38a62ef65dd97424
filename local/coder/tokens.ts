/** The tokens of the control plane's identities at the local Coder: key files that both sides read, made before either starts. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { KEY_FILES, readSecret, writeSecret } from '../keys.ts';
import type { CoderTokens } from './identities.ts';
import { newKey } from './users/accounts.ts';

const IDENTITIES = ['lifecycle', 'chat', 'break-glass'] as const;

/** Makes those that are missing. */
export function ensureCoderTokens(keysDirectory: string): void {
  for (const identity of IDENTITIES) {
    const file = join(keysDirectory, KEY_FILES.coderToken(identity));
    if (statSync(file, { throwIfNoEntry: false }) === undefined) writeSecret(file, newKey());
  }
}

/** @throws `setting_invalid` for one that is missing or open to others */
export function readCoderTokens(keysDirectory: string): CoderTokens {
  const read = (identity: (typeof IDENTITIES)[number]) =>
    readSecret(join(keysDirectory, KEY_FILES.coderToken(identity)));
  return { lifecycle: read('lifecycle'), chat: read('chat'), breakGlass: read('break-glass') };
}
