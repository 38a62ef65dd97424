/** Temporal's workers report every change of state; a test run shows warnings and worse. */
import { DefaultLogger, Runtime } from '@temporalio/worker';

Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { filter: 'OFF', forward: {} } },
});
