/** Projects with dependencies from a fresh clone, over the real registries of this machine (as its own clients know them). */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { searchToolchains } from '../../activities/executor/toolchain-search.ts';
import { makeRepository, seat, startStack, type Seated, type Stack } from './stage.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples');

/** What a repository may try to say about where packages come from and what runs on the way. None of it may count. */
const HOSTILE = {
  '.npmrc': 'registry=http://127.0.0.1:1/\nscript-shell=/work/evil\nignore-scripts=false\n',
  'pip.conf': '[global]\nindex-url = http://127.0.0.1:1/\n',
  'go.env': 'GOPROXY=http://127.0.0.1:1/\nGOFLAGS=-toolexec=/work/evil\n',
  '.cargo/config.toml': '[build]\nrustc-wrapper = "/work/evil"\n[http]\nproxy = "127.0.0.1:1"\n',
} as const;

/** Of tools that a machine does not have, nothing can be tried on it. */
const HERE = new Set((await searchToolchains()).tools.map(({ name }) => name));

let stack: Stack;
let at: Seated;
/** Its package.json is another one. */
let atPnpm: Seated | null = null;

beforeAll(async () => {
  stack = await startStack();
  const projects = ['npm-project', 'cargo-project', 'go-project', 'python-project'].map(filesOf);
  // Without its tests, which would have Go compile most of its library: that is minutes on a small machine.
  const files = Object.entries(Object.assign({}, ...projects, HOSTILE) as Record<string, string>);
  const repository = Object.fromEntries(files.filter(([path]) => !path.endsWith('_test.go')));
  at = await seat(stack, makeRepository(stack, 'examples', repository));
  if (HERE.has('pnpm'))
    atPnpm = await seat(stack, makeRepository(stack, 'pnpm', { ...filesOf('pnpm-project'), ...HOSTILE }));
}, 240_000);
afterAll(async () => {
  await atPnpm?.leave();
  await at.leave();
  await stack.close();
});

const PREPARED: readonly (readonly [string, readonly string[], object | null])[] = [
  ['npm-ci', ['npm', 'test'], { executed: 2, passed: 2 }],
  ['pnpm-install', ['pnpm', 'test'], { executed: 2, passed: 2 }],
  ['cargo-fetch', ['cargo', 'test'], { executed: 2, passed: 2 }],
  ['go-mod-download', ['go', 'vet', './...'], null],
  ['pip-install', ['pytest'], { executed: 2, passed: 2 }],
];

// One by one, so that a tool that is not here is a skipped test and not an absent one.
for (const [step, argv, tests] of PREPARED) {
  test.runIf(HERE.has(argv[0] ?? ''))(
    `[inv-05] ${step} prepares what its lockfile names, and the command finds it`,
    async () => {
      const seated = argv[0] === 'pnpm' && atPnpm !== null ? atPnpm : at;
      const { result } = await seated.ended(await seated.ask({ argv }));
      expect(result).toMatchObject({
        status: 'completed',
        satisfied: true,
        exit_code: 0,
        sandbox: { network: 'none' },
      });
      expect(result?.prepare).toMatchObject({ step, outcome: 'prepared', cache: 'miss', refused: 0, reason: '' });
      expect(result?.prepare?.requests).toBeGreaterThan(0);
      if (tests !== null) expect(result?.tests).toMatchObject(tests);
      // The lockfile's own bytes, unchanged after the run.
      expect(result?.subject.tree_after).toBe(result?.subject.tree_before);
    },
  );
}

test('what was prepared is used again, and the record says so', async () => {
  const { result } = await at.ended(await at.ask({ argv: ['npm', 'test'], attempt: 2 }));
  expect(result).toMatchObject({ satisfied: true, prepare: { outcome: 'prepared', cache: 'hit', requests: 0 } });
});

test('[inv-05] [inv-15] the way to the registries is an executor’s alone, and the egress answers nobody without its key', async () => {
  const gateway = `http://127.0.0.1:${stack.state().ports.gateway}`;
  expect((await fetch(new URL('/egress/npm/ms', gateway))).status).toBe(401);
  const bearer = readFileSync(stack.paths.operator, 'utf8').trim();
  const asOperator = await fetch(new URL('/egress/npm/ms', gateway), {
    headers: { authorization: `Bearer ${bearer}` },
  });
  expect(asOperator.status).toBe(403);
  const { egress } = stack.state().ports;
  expect((await fetch(`http://127.0.0.1:${egress}/npm/ms`)).status).toBe(401);
});

function filesOf(example: string): Readonly<Record<string, string>> {
  const root = join(EXAMPLES, example);
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' });
  const files = paths.filter((path) => statSync(join(root, path)).isFile() && path !== 'README.md');
  return Object.fromEntries(files.map((path) => [relative('.', path), readFileSync(join(root, path), 'utf8')]));
}
