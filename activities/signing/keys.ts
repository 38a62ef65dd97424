/**
 * Ed25519 keys as PEM files (PKCS 8, mode 0600): who signed an action, an audit entry or a decision.
 *
 * @example const key = await loadOrCreateSigningKey('/…/action-key.pem'); signText(key, digest)
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify, type KeyObject } from 'node:crypto';
import { open, readFile, stat } from 'node:fs/promises';
import { contentDigest, digestHex } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';

/** A key that can sign. `keyId` names its public half. */
export interface SigningKey {
  readonly keyId: string;
  readonly privateKey: KeyObject;
  /** SubjectPublicKeyInfo, PEM: what verifiers are given. */
  readonly publicPem: string;
}

export interface VerifyingKey {
  readonly keyId: string;
  readonly publicKey: KeyObject;
}

export function generateSigningKey(): SigningKey {
  return signingKey(generateKeyPairSync('ed25519').privateKey);
}

/** Writes the key to a file that must not exist yet, readable by its owner only. @throws `setting_invalid` */
export async function writeSigningKey(path: string, key: SigningKey): Promise<void> {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(key.privateKey.export({ type: 'pkcs8', format: 'pem' }));
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw portcullisError('setting_invalid', { name: `key file ${path}`, reason: 'cannot be written' }, error);
  }
}

/** @throws `setting_invalid` when the file is missing, open to others, or not an Ed25519 private key. */
export async function loadSigningKey(path: string): Promise<SigningKey> {
  const refuse = (reason: string, cause?: unknown) =>
    portcullisError('setting_invalid', { name: `key file ${path}`, reason }, cause);
  let key: KeyObject;
  try {
    if (((await stat(path)).mode & 0o077) !== 0) throw refuse('is readable by others; make it mode 0600');
    key = createPrivateKey(await readFile(path));
  } catch (error) {
    throw error instanceof Error && error.name === 'PortcullisError' ? error : refuse('cannot be read as a key', error);
  }
  if (key.asymmetricKeyType !== 'ed25519') throw refuse('is not an Ed25519 key');
  return signingKey(key);
}

/** The key of the file, made first when there is none. @throws `setting_invalid` */
export async function loadOrCreateSigningKey(path: string): Promise<SigningKey> {
  try {
    await stat(path);
  } catch {
    const fresh = generateSigningKey();
    await writeSigningKey(path, fresh);
    return fresh;
  }
  return loadSigningKey(path);
}

/** Reads a public key. @throws `setting_invalid` when it is not an Ed25519 one. */
export function parseVerifyingKey(pem: string): VerifyingKey {
  let publicKey: KeyObject;
  try {
    publicKey = createPublicKey(pem);
  } catch (error) {
    throw portcullisError('setting_invalid', { name: 'public key', reason: 'is not a PEM public key' }, error);
  }
  if (publicKey.asymmetricKeyType !== 'ed25519') {
    throw portcullisError('setting_invalid', { name: 'public key', reason: 'is not an Ed25519 key' });
  }
  return { keyId: keyIdOf(publicKey), publicKey };
}

/** What verifies the signatures of this key. */
export function verifyingKeyOf({ keyId, privateKey }: SigningKey): VerifyingKey {
  return { keyId, publicKey: createPublicKey(privateKey) };
}

/** Ed25519 over the text's UTF-8, base64. Callers sign a digest's text, never a record. */
export function signText(key: SigningKey, text: string): string {
  return sign(null, Buffer.from(text, 'utf8'), key.privateKey).toString('base64');
}

export function verifyText(key: VerifyingKey, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64');
  // Base64 readers skip what they do not know: only the one spelling of these bytes is a signature.
  if (bytes.length !== 64 || bytes.toString('base64') !== signature) return false;
  return verify(null, Buffer.from(text, 'utf8'), key.publicKey, bytes);
}

function signingKey(privateKey: KeyObject): SigningKey {
  const publicKey = createPublicKey(privateKey);
  return {
    keyId: keyIdOf(publicKey),
    privateKey,
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

/** First 16 hex digits of the SHA-256 of the public key's DER: short enough to read, long enough to tell keys apart. */
function keyIdOf(publicKey: KeyObject): string {
  return digestHex(contentDigest(publicKey.export({ type: 'spki', format: 'der' }))).slice(0, 16);
}
