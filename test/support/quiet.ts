/** Temporal's workers report every change of state; a test run shows warnings and worse. */
import { DefaultLogger, Runtime } from '@temporalio/worker';

/** Files of one process share its runtime, and it can be installed once. */
const INSTALLED = Symbol.for('portcullis.test.runtime');

if (Reflect.get(globalThis, INSTALLED) !== true) {
  Reflect.set(globalThis, INSTALLED, true);
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: 'OFF', forward: {} } },
  });
}
