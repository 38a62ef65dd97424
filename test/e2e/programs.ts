/** One repository of programs under test, each asked for by its path: `node --test passing.test.mjs`. */

const passing = `import { test } from 'node:test';
test('adds', () => { if (1 + 1 !== 2) throw new Error(); });
test('subtracts', () => { if (2 - 1 !== 1) throw new Error(); });
`;

/** Passes after so many seconds. */
const slow = (seconds: number) => `import { test } from 'node:test';
test('takes its time', async () => {
  console.log('begun');
  await new Promise((resolve) => setTimeout(resolve, ${seconds * 1000}));
});
`;

/** In the command line of every process that `stubborn.test.mjs` leaves behind. */
export const STUBBORN_MARKER = `stubborn-${crypto.randomUUID()}`;

/** Leaves processes behind by every usual way out, each ignoring TERM, and never ends by itself. */
const stubborn = `import { spawn } from 'node:child_process';
import { test } from 'node:test';
const sleeper = "process.on('SIGTERM', () => {}); process.on('SIGHUP', () => {}); setInterval(() => {}, 1000);";
const forker = "require('node:child_process').spawn(process.execPath, ['-e', process.argv[2], process.argv[1]], { detached: true, stdio: 'ignore' }).unref();";
test('detaches', async () => {
  spawn(process.execPath, ['-e', sleeper, '${STUBBORN_MARKER}'], { detached: true, stdio: 'ignore' }).unref();
  spawn(process.execPath, ['-e', forker, '${STUBBORN_MARKER}', sleeper], { detached: true, stdio: 'ignore' }).unref();
  spawn('setsid', [process.execPath, '-e', sleeper, '${STUBBORN_MARKER}'], { stdio: 'ignore' });
  process.on('SIGTERM', () => {});
  console.log('begun');
  await new Promise(() => setInterval(() => {}, 1000));
});
`;

export const PASSING = { 'passing.test.mjs': passing };

export const FAILING = {
  'failing.test.mjs': `${passing}test('is wrong', () => { throw new Error('on purpose'); });\n`,
};

export const PROGRAMS: Readonly<Record<string, string>> = {
  ...PASSING,
  ...FAILING,
  'stubborn.test.mjs': stubborn,
  'slow-2.test.mjs': slow(2),
  'slow-3.test.mjs': slow(3),
  'slow-5.test.mjs': slow(5),
  'slow-9.test.mjs': slow(9),
  'slow-30.test.mjs': slow(30),
};

/** The argv that runs one of them. */
export function running(program: string): readonly string[] {
  return ['node', '--test', `${program}.test.mjs`];
}
