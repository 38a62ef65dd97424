/** Programs under test, as files of small repositories. */

const passing = `import { test } from 'node:test';
test('adds', () => { if (1 + 1 !== 2) throw new Error(); });
test('subtracts', () => { if (2 - 1 !== 1) throw new Error(); });
`;

export const PASSING = { 'a.test.mjs': passing };

export const FAILING = {
  'a.test.mjs': `${passing}test('is wrong', () => { throw new Error('on purpose'); });\n`,
};

/** Runs for this many seconds and passes. */
export function slow(seconds: number): Record<string, string> {
  return {
    'slow.test.mjs': `import { test } from 'node:test';
test('takes its time', async () => {
  console.log('begun');
  await new Promise((resolve) => setTimeout(resolve, ${seconds * 1000}));
});
`,
  };
}

/** Leaves processes behind by every usual way out, each ignoring TERM, and never ends by itself. */
export function stubborn(marker: string): Record<string, string> {
  return {
    'stubborn.test.mjs': `import { spawn } from 'node:child_process';
import { test } from 'node:test';
const sleeper = "process.on('SIGTERM', () => {}); process.on('SIGHUP', () => {}); setInterval(() => {}, 1000);";
const forker = "require('node:child_process').spawn(process.execPath, ['-e', process.argv[2], process.argv[1]], { detached: true, stdio: 'ignore' }).unref();";
test('detaches', async () => {
  spawn(process.execPath, ['-e', sleeper, '${marker}'], { detached: true, stdio: 'ignore' }).unref();
  spawn(process.execPath, ['-e', forker, '${marker}', sleeper], { detached: true, stdio: 'ignore' }).unref();
  spawn('setsid', [process.execPath, '-e', sleeper, '${marker}'], { stdio: 'ignore' });
  process.on('SIGTERM', () => {});
  console.log('begun');
  await new Promise(() => setInterval(() => {}, 1000));
});
`,
  };
}
