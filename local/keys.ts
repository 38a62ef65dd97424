/**
 * The secrets of an installation, one file (mode 0600) each, in `keys/`. Each part reads only its own:
 *
 * | file | holds | read by |
 * |---|---|---|
 * | `store-control`, `store-gate`, `store-gateway`, `store-reader` | password of that user of the store | that part; the gateway reads the last two |
 * | `store-admin` | password of the store's administrator | `up`, `doctor` |
 * | `gateway-key` | 32 random bytes, base64url: makes bearers | gateway |
 * | `claim-key` | 32 random bytes, base64url: makes the claim codes of workspaces | control |
 * | `action.pem`, `action.pub.pem` | the key that signs actions and audit entries, and its public half | control; the gateway reads the public half |
 * | `gate.pem`, `gate.pub.pem` | the key that signs decisions, and its public half | gate; control and the gateway read the public half |
 * | `egress-key` | 32 random bytes, base64url: what the gateway shows the egress | gateway, egress |
 * | `coder-lifecycle`, `coder-chat`, `coder-break-glass` | tokens at the local Coder | control, coder |
 * | `operator` | the operator's bearer | commands |
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadOrCreateSigningKey } from '../activities/signing/keys.ts';
import { ADMIN_USER, STORE_USERS, type StorePasswords, type StoreUser } from '../activities/store/users.ts';
import { portcullisError } from '../schemas/errors.ts';

export const KEY_FILES = {
  gateway: 'gateway-key',
  action: 'action.pem',
  actionPublic: 'action.pub.pem',
  /** Of the same key: what audit entries of the control worker are verified with. */
  controlPublic: 'control.pub.pem',
  claim: 'claim-key',
  gate: 'gate.pem',
  gatePublic: 'gate.pub.pem',
  egress: 'egress-key',
  operator: 'operator',
  /** Token of one of the control plane's identities at Coder; only where there is a server. */
  coderToken: (identity: 'lifecycle' | 'chat' | 'break-glass') => `coder-${identity}`,
  storePassword: (user: StoreUser | typeof ADMIN_USER) => `store-${user}`,
} as const;

/** The parts that read key files, and which ones each reads. */
export const KEY_READERS = {
  control: [KEY_FILES.storePassword('control'), KEY_FILES.action, KEY_FILES.gatePublic, KEY_FILES.claim],
  gate: [KEY_FILES.storePassword('gate'), KEY_FILES.gate],
  gateway: [
    KEY_FILES.storePassword('gateway'),
    KEY_FILES.storePassword('reader'),
    KEY_FILES.gateway,
    KEY_FILES.actionPublic,
    KEY_FILES.egress,
  ],
  egress: [KEY_FILES.egress],
  operator: [KEY_FILES.storePassword('control')],
} as const;

/** Copies each part's keys into `target/<part>/`, so that a container is given its own and no other's. */
export function splitKeys(directory: string, target: string): void {
  for (const [part, files] of Object.entries(KEY_READERS)) {
    mkdirSync(join(target, part), { recursive: true, mode: 0o700 });
    for (const file of files) writeSecret(join(target, part, file), readFileSync(join(directory, file), 'utf8').trim());
  }
}

/** Makes every key that is missing; those that are there stay. @throws `setting_invalid` for one that cannot be read */
export async function ensureKeys(directory: string): Promise<void> {
  const users: readonly (StoreUser | typeof ADMIN_USER)[] = [...STORE_USERS, ADMIN_USER];
  for (const user of users) ensureSecret(join(directory, KEY_FILES.storePassword(user)));
  ensureSecret(join(directory, KEY_FILES.gateway));
  ensureSecret(join(directory, KEY_FILES.claim));
  ensureSecret(join(directory, KEY_FILES.egress));
  const action = await loadOrCreateSigningKey(join(directory, KEY_FILES.action));
  writeFileSync(join(directory, KEY_FILES.actionPublic), action.publicPem, { mode: 0o600 });
  writePublicKeys(join(directory, KEY_FILES.controlPublic), action.publicPem);
  const gate = await loadOrCreateSigningKey(join(directory, KEY_FILES.gate));
  writePublicKeys(join(directory, KEY_FILES.gatePublic), gate.publicPem);
}

/** The current key first. Older ones stay behind it: what they signed still verifies after a change of key. */
function writePublicKeys(file: string, current: string): void {
  const there = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const older = there.replace(current.trim(), '').trim();
  const keys = [current.trim(), ...(older === '' ? [] : [older])].join('\n');
  writeFileSync(file, `${keys}\n`, { mode: 0o600 });
}

/** The passwords of all users; only for who sets the store up. */
export function storePasswords(directory: string): StorePasswords {
  const password = (user: StoreUser | typeof ADMIN_USER) => readSecret(join(directory, KEY_FILES.storePassword(user)));
  return {
    admin: password('admin'),
    control: password('control'),
    gate: password('gate'),
    gateway: password('gateway'),
    reader: password('reader'),
  };
}

/** The secret in a file. @throws `setting_invalid` when it is missing, empty, or open to others */
export function readSecret(file: string): string {
  const refuse = (reason: string, cause?: unknown) =>
    portcullisError('setting_invalid', { name: `key file ${file}`, reason }, cause);
  let text: string;
  try {
    if ((statSync(file).mode & 0o077) !== 0) throw refuse('is readable by others; make it mode 0600');
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw error instanceof Error && error.name === 'PortcullisError' ? error : refuse('cannot be read', error);
  }
  if (text === '') throw refuse('is empty');
  return text;
}

/** Writes a secret for the owner alone, replacing what was there. */
export function writeSecret(file: string, secret: string): void {
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
}

function ensureSecret(file: string): void {
  if (statSync(file, { throwIfNoEntry: false }) !== undefined) {
    readSecret(file);
    return;
  }
  writeSecret(file, randomBytes(32).toString('base64url'));
}
