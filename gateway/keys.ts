/** The gateway's secrets: one key on disk, one derived secret for each purpose. */
import { createHmac } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { parseVerifyingKey } from '../activities/signing/keys.ts';
import { portcullisError } from '../schemas/errors.ts';
import type { GatewayKeys } from './context.ts';

const MIN_KEY_BYTES = 32;

/** @throws `setting_invalid` when the key is shorter than 32 bytes. */
export function gatewayKeys(gatewayKey: Uint8Array, actionPublicKey: GatewayKeys['actionPublicKey']): GatewayKeys {
  if (gatewayKey.length < MIN_KEY_BYTES) {
    throw portcullisError('setting_invalid', { name: 'gateway key', reason: 'is shorter than 32 bytes' });
  }
  return {
    gatewayKey,
    taskIdKey: derived(gatewayKey, 'task-id'),
    approvalKey: derived(gatewayKey, 'approval'),
    sealKey: derived(gatewayKey, 'seal'),
    actionPublicKey,
  };
}

/** A label has no NUL and what a bearer's MAC covers has one, so no label is ever a bearer. */
function derived(key: Uint8Array, label: string): Uint8Array {
  return createHmac('sha256', key).update(`portcullis:gateway:${label}:v1`).digest();
}

/**
 * The gateway's keys from their files: the secret as base64url text in a file of mode 0600, the action key's public half as PEM.
 * @throws `setting_invalid`
 */
export async function loadGatewayKeys(gatewayKeyFile: string, actionPublicKeyFile: string): Promise<GatewayKeys> {
  const secret = Buffer.from((await readKeyFile(gatewayKeyFile, { secret: true })).trim(), 'base64url');
  const pem = await readKeyFile(actionPublicKeyFile, { secret: false });
  return gatewayKeys(secret, { keyId: parseVerifyingKey(pem).keyId, pem });
}

async function readKeyFile(path: string, { secret }: { readonly secret: boolean }): Promise<string> {
  const refuse = (reason: string, cause?: unknown) =>
    portcullisError('setting_invalid', { name: `key file ${path}`, reason }, cause);
  const { mode } = await stat(path).catch((thrown: unknown) => {
    throw refuse('cannot be read', thrown);
  });
  if (secret && (mode & 0o077) !== 0) throw refuse('is readable by others; make it mode 0600');
  return readFile(path, 'utf8').catch((thrown: unknown) => {
    throw refuse('cannot be read', thrown);
  });
}
