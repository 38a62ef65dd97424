/** Temporal's core without its logs. A process has one, whichever of its benchmarks comes first. */
import { DefaultLogger, Runtime } from '@temporalio/worker';

let isInstalled = false;

export function quietRuntime(): void {
  if (isInstalled) return;
  isInstalled = true;
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: 'OFF', forward: {} } },
  });
}
