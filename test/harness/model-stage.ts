/** The stage of the harness with a way to a model: a fake host, an egress that has its key, and a gateway that leads there. */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import type { GatewaySettings } from '../../gateway/main.ts';
import type { RunningGateway } from '../../gateway/gateway.ts';
import { readModelHosts } from '../../workers/egress/model-hosts.ts';
import { startEgress } from '../../workers/egress/start-egress.ts';
import type { EgressSettings } from '../../workers/egress/settings.ts';
import { startFakeModelHost, type FakeModelHost } from '../support/fake-model/host.ts';
import { openHarnessStage, type HarnessStage } from './stage.ts';

export interface ModelStage {
  readonly harness: HarnessStage;
  readonly host: FakeModelHost;
  readonly gateway: RunningGateway;
  /** What egress and gateway logged so far. */
  logs(): string;
  /** Of this stage alone; its path is short enough for sockets. */
  readonly directory: string;
  close(): Promise<void>;
}

/** `command` is what the model has its caller run. */
export async function openModelStage(
  temporalAddress: string,
  command: string,
  change: Partial<GatewaySettings> = {},
): Promise<ModelStage> {
  const harness = await openHarnessStage(temporalAddress);
  const host = await startFakeModelHost({ command });
  const directory = await mkdtemp('/tmp/pcm-');
  // Whoever lives in a workspace reaches the gateway's socket.
  await chmod(directory, 0o755);
  await mkdir(join(directory, 'gateway'), { mode: 0o755 });
  const lines: string[] = [];
  const logger = pino({ level: 'debug' }, { write: (line) => void lines.push(line) });
  const key = randomBytes(32).toString('base64url');
  const egress = await startEgress({
    host: '127.0.0.1',
    port: 0,
    key,
    upstreams: NO_REGISTRIES,
    models: await hostsOf(directory, host),
    logger,
  });
  const gateway = await harness.door.gateway({
    socketPath: join(directory, 'gateway', 's'),
    egress: { url: new URL(`http://127.0.0.1:${egress.port}`), key },
    logger,
    ...change,
  });
  return {
    harness,
    host,
    gateway,
    directory,
    logs: () => lines.join(''),
    async close() {
      await harness.close();
      await egress.close();
      await host.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const nowhere = { base: new URL('http://127.0.0.1:9/'), authorization: null };
const NO_REGISTRIES: EgressSettings['upstreams'] = {
  npm: nowhere,
  'crates-index': nowhere,
  go: nowhere,
  pypi: nowhere,
};

/** As an operator writes it: the host of `default`, which is every role's, and the key in a file of its own. */
async function hostsOf(directory: string, host: FakeModelHost) {
  const file = join(directory, 'models.json');
  await writeFile(join(directory, 'key'), `${host.key}\n`, { mode: 0o600 });
  const entry = { name: 'default', url: host.url, apis: ['anthropic', 'openai'], auth: 'x-api-key', key_file: 'key' };
  await writeFile(file, JSON.stringify({ schema: 'portcullis/model-hosts/v1', hosts: [entry] }), { mode: 0o600 });
  return readModelHosts(file);
}
