/** Signs an action at the control worker and verifies it at the executor, which runs only what verifies for itself. */
import { digestOf } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { Action, SignedAction } from '../../schemas/verify/action.ts';
import { signText, verifyText, type SigningKey, type VerifyingKey } from './keys.ts';

/** @throws `canonical_unsupported` when the action has no canonical bytes. */
export function signAction(action: Action, key: SigningKey): SignedAction {
  const digest = digestOf('action', action);
  return { action, digest, signature: signText(key, digest), keyId: key.keyId };
}

/**
 * The action, when this key signed exactly it: the digest is made again from the action's own bytes.
 * @throws `signature_invalid`
 */
export function verifyAction(signed: SignedAction, key: VerifyingKey): Action {
  const { action, digest, signature, keyId } = signed;
  const genuine = keyId === key.keyId && digestMatches(action, digest) && verifyText(key, digest, signature);
  if (!genuine) throw portcullisError('signature_invalid', { what: 'the action' });
  return action;
}

function digestMatches(action: Action, digest: string): boolean {
  try {
    return digestOf('action', action) === digest;
  } catch {
    // No canonical bytes: nobody can have signed it.
    return false;
  }
}
