/** Public halves of a writer's keys, from a file that no user of the store can write. */
import { readFile } from 'node:fs/promises';
import { portcullisError } from '../../schemas/errors.ts';
import { parseVerifyingKey, type VerifyingKey } from './keys.ts';

const PEM = /-----BEGIN PUBLIC KEY-----[^-]{1,4096}-----END PUBLIC KEY-----/g;

/**
 * Reads the file when it is first needed: the writer may make its key after this process starts. After a change of key the file
 * holds the older ones too, one PEM after the other, and what they signed still verifies.
 * @throws `setting_invalid` while there is no key in it
 */
export function publicKeys(file: string): () => Promise<readonly VerifyingKey[]> {
  let known: readonly VerifyingKey[] | null = null;
  return async () => (known ??= await readKeys(file));
}

async function readKeys(file: string): Promise<readonly VerifyingKey[]> {
  const refuse = (reason: string, cause?: unknown) =>
    portcullisError('setting_invalid', { name: `key file ${file}`, reason }, cause);
  const text = await readFile(file, 'utf8').catch((thrown: unknown) => {
    throw refuse('cannot be read', thrown);
  });
  const keys = (text.match(PEM) ?? []).map(parseVerifyingKey);
  if (keys.length === 0) throw refuse('holds no public key');
  return keys;
}
