/** The store of the local stack: how it is started, when it serves, and how a store of the operator's gets our users. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { aclFile } from '../activities/store/acl.ts';
import { checkStoreSafety, type StoreSettings } from '../activities/store/connect.ts';
import { storeFailure } from '../activities/store/failures.ts';
import { serverArguments } from '../activities/store/server-settings.ts';
import type { StorePasswords } from '../activities/store/users.ts';
import { portcullisError } from '../schemas/errors.ts';
import { LOOPBACK } from './ports.ts';

export interface LocalStoreOptions {
  readonly port: number;
  /** Directory of the append-only file. */
  readonly directory: string;
  readonly keysDirectory: string;
  readonly passwords: StorePasswords;
  readonly tenants: readonly string[];
  readonly maxMemoryBytes: number;
}

/** Writes the ACL file and answers the arguments of the server that reads it. */
export function localStoreArguments(options: LocalStoreOptions): readonly string[] {
  const { tenants, passwords, port, directory, maxMemoryBytes } = options;
  const file = join(options.keysDirectory, 'store.acl');
  writeAclFile(file, tenants, passwords, 0o600);
  return serverArguments({ port, directory, aclFile: file, maxMemoryBytes });
}

/** Passwords are in it as digests only. */
export function writeAclFile(file: string, tenants: readonly string[], passwords: StorePasswords, mode: number): void {
  writeFileSync(file, aclFile({ tenants, passwords }), { mode });
}

export function localStoreUrl(port: number): string {
  return `redis://${LOOPBACK}:${port}`;
}

/**
 * Waits until the store answers as every part will ask it, and is safe.
 * @throws `store_unavailable` after `deadlineMs` or when `abandoned`; `store_unsafe` at once
 */
export async function awaitStore(access: StoreSettings, deadlineMs: number, abandoned: () => boolean): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    try {
      const findings = await checkStoreSafety(access);
      const unsafe = findings.filter(({ severity }) => severity === 'unsafe');
      if (unsafe.length === 0) return;
      throw portcullisError('store_unsafe', { reason: unsafe.map(({ detail }) => detail).join('; ') });
    } catch (thrown) {
      const error = storeFailure(thrown);
      if (error.code === 'store_unsafe' || performance.now() >= deadline || abandoned()) throw error;
    }
    await delay(30);
  }
}

/**
 * Makes our users in a store that the operator runs, through the administrator's connection of `url`.
 * @throws `store_unavailable`
 */
export async function installUsers(url: string, tenants: readonly string[], passwords: StorePasswords): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: null, disableClientInfo: true, protocol: 2 });
  redis.on('error', () => {});
  try {
    await redis.connect();
    for (const rules of userLines(aclFile({ tenants, passwords }))) await redis.call('ACL', 'SETUSER', ...rules);
  } catch (thrown) {
    throw storeFailure(thrown);
  } finally {
    redis.disconnect();
  }
}

/** The lines of an ACL file as arguments of ACL SETUSER; `default` is the operator's own business. */
function userLines(acl: string): readonly (readonly string[])[] {
  return acl.split('\n').flatMap((line) => {
    const [word, name, ...rules] = line.match(/\([^)]*\)|[^\s]+/g) ?? [];
    return word === 'user' && name !== undefined && name !== 'default' ? [[name, 'reset', ...rules]] : [];
  });
}
