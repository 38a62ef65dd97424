/** `node test/support/fake-model/main.ts COMMAND`: the fake model host by itself; prints its address and key as a line of JSON. */
import { startFakeModelHost } from './host.ts';

const host = await startFakeModelHost({ command: process.argv[2] ?? 'portcullis context' });
process.stdout.write(`${JSON.stringify({ url: host.url, key: host.key })}\n`);
if (process.env['FAKE_MODEL_LOG'] === '1') {
  let told = 0;
  setInterval(() => {
    for (const { method, target, headers, body } of host.asked.slice(told)) {
      process.stderr.write(`${JSON.stringify({ method, target, headers, body })}\n`);
    }
    told = host.asked.length;
  }, 100);
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0));
