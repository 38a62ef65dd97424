/**
 * The servers that the store's suites run over: Valkey, and Redis 7.0 or newer where `redis-server` is on PATH or named
 * by PORTCULLIS_TEST_REDIS. Where there is no Redis the suites say so in the name of a test.
 */
import { describe, test } from 'vitest';
import { onPath, storeServer, versionOf } from '../../local/binaries.ts';

export interface StoreKind {
  readonly name: string;
  readonly program: string;
}

/** Programs that are here, each with its version. */
export function storeKinds(): readonly StoreKind[] {
  const programs = [
    onPath('valkey-server') ?? valkeyOfSetup(),
    process.env['PORTCULLIS_TEST_REDIS'] ?? onPath('redis-server'),
  ];
  return programs.flatMap((program) => {
    const version = program === null ? null : versionOf(program);
    return program === null || version === null || !serves(version) ? [] : [{ name: shortName(version), program }];
  });
}

/** Runs `suite` once over each server that is here, and names the one that is not. */
export function describeStores(title: string, suite: (kind: StoreKind) => void): void {
  const kinds = storeKinds();
  for (const kind of kinds) describe(`${title} (${kind.name})`, () => suite(kind));
  if (!kinds.some(({ name }) => name.startsWith('Redis'))) {
    test(`${title}: no redis-server 7.0 or newer is here, so this ran on Valkey alone`, ({ annotate }) =>
      annotate('Put redis-server on PATH, or name one in PORTCULLIS_TEST_REDIS, to run the suite over Redis too.'));
  }
}

function valkeyOfSetup(): string {
  return storeServer({ PATH: '' });
}

function serves(version: string): boolean {
  return version.startsWith('Valkey') || Number(/v=(\d+)/.exec(version)?.[1] ?? 0) >= 7;
}

function shortName(version: string): string {
  return `${version.startsWith('Valkey') ? 'Valkey' : 'Redis'} ${/v=([\d.]+)/.exec(version)?.[1] ?? ''}`;
}
