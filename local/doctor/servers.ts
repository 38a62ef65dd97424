/** The servers that are named or run here: the store, Temporal, the gateway, and the clocks of both sides. */
import { connectStore, checkStoreSafety, type StoreSettings } from '../../activities/store/connect.ts';
import { storeReader } from '../../activities/store/reader.ts';
import { asPortcullisError, ERROR_CATALOGUE } from '../../schemas/errors.ts';
import { askReadyz } from '../supervisor/readyz.ts';
import { namespaceState } from '../temporal.ts';
import { fail, ok, warn, type Check } from './check.ts';

const MAX_CLOCK_SKEW_MS = 2_000;

/** @returns one check for reaching it, one for each thing that is unsafe or needs a look */
export async function checkStore(access: StoreSettings): Promise<readonly Check[]> {
  try {
    const findings = await checkStoreSafety(access);
    const { mend } = ERROR_CATALOGUE.store_unsafe;
    const checks = findings.map(({ code, severity, detail }) =>
      (severity === 'unsafe' ? fail : warn)(`store ${code}`, detail, mend),
    );
    return checks.length > 0 ? checks : [ok('store', `${access.url}: appendonly, appendfsync always, noeviction`)];
  } catch (thrown) {
    const { message } = asPortcullisError(thrown);
    return [
      fail('store', `${access.url}: ${message}`, 'See that it runs and that the passwords in keys/ are its users’.'),
    ];
  }
}

/** Leases and expiries are judged by the store's clock, records carry ours. */
export async function checkClock(access: StoreSettings): Promise<Check> {
  try {
    const connection = await connectStore(access);
    try {
      const before = Date.now();
      const theirs = await storeReader(connection).now();
      const skew = Math.round(theirs - (before + Date.now()) / 2);
      const found = `${Math.abs(skew)} ms between this clock and the store's`;
      return Math.abs(skew) <= MAX_CLOCK_SKEW_MS
        ? ok('clock', found)
        : fail('clock', found, 'Synchronise both clocks.');
    } finally {
      await connection.close();
    }
  } catch (thrown) {
    return fail('clock', asPortcullisError(thrown).message, 'The store must answer first.');
  }
}

export async function checkTemporal(address: string, namespace: string): Promise<readonly Check[]> {
  const state = await namespaceState(address, namespace);
  if ('refusal' in state) {
    return [fail('temporal', `${address}: ${state.refusal}`, 'See that it runs and that the namespace exists.')];
  }
  const reach = ok('temporal', `${address}, namespace ${namespace}, server ${state.serverVersion}`);
  if (state.missingSearchAttributes.length === 0) return [reach, ok('search attributes', 'all registered')];
  const missing = state.missingSearchAttributes.join(', ');
  const how = `temporal operator search-attribute create --name NAME --type Keyword --namespace ${namespace}`;
  return [reach, fail('search attributes', `missing: ${missing}`, `Register each: ${how}`)];
}

export async function checkGateway(url: string): Promise<Check> {
  const refusal = await askReadyz(`${url}/readyz`);
  return refusal === null
    ? ok('gateway', `${url} is ready`)
    : fail('gateway', refusal, 'See its log; portcullis status.');
}
