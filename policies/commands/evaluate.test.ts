import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadCommandPolicy } from '../../activities/policy/load.ts';
import { evaluateCommand } from './evaluate.ts';
import { ARGV_LIMITS } from './limits.ts';
import { matchTemplate } from './match.ts';
import type { CommandAsk, CommandTemplate } from './types.ts';

const { policy } = await loadCommandPolicy();

function ask(argv: readonly string[], change: Partial<CommandAsk> = {}): CommandAsk {
  return { argv, cwd: 'repo', timeoutSecs: 600, expectExitCode: 0, artifacts: [], ...change };
}

function reasonFor(argv: readonly string[], change: Partial<CommandAsk> = {}): string {
  const ruling = evaluateCommand(policy, ask(argv, change));
  return ruling.allowed ? 'allowed' : ruling.reason;
}

describe('a shipped template', () => {
  it.each([
    [['node', '--test'], 'node-test'],
    [['node', '--test', 'test/a.test.js'], 'node-test-path'],
    [['npm', 'test'], 'npm-test'],
    [['npm', 'run', 'test:ci'], 'npm-run-test'],
    [['npm', 'run', 'lint'], 'npm-run-check'],
    [['pnpm', 'test'], 'pnpm-test'],
    [['pnpm', 'run', 'test:unit'], 'pnpm-run-test'],
    [['pnpm', 'run', 'typecheck'], 'pnpm-run-check'],
    [['bun', 'test'], 'bun-test'],
    [['cargo', 'test'], 'cargo-test'],
    [['cargo', 'test', '--package', 'foo-bar_2'], 'cargo-test-package'],
    [['cargo', 'build'], 'cargo-build'],
    [['cargo', 'clippy'], 'cargo-clippy'],
    [['cargo', 'clippy', '--', '-D', 'warnings'], 'cargo-clippy-deny-warnings'],
    [['go', 'test', './...'], 'go-test'],
    [['go', 'vet', './...'], 'go-vet'],
    [['pytest'], 'pytest'],
    [['make', 'test'], 'make-test'],
  ])('takes %j', (argv, template) => {
    const ruling = evaluateCommand(policy, ask(argv));
    expect(ruling).toMatchObject({ allowed: true, template });
  });

  it('adds the flags that make the command honest, and keeps what was asked', () => {
    const ruling = evaluateCommand(policy, ask(['cargo', 'test', '--package', 'foo']));
    expect(ruling).toMatchObject({
      argvExecuted: ['cargo', 'test', '--locked', '--offline', '--package', 'foo'],
      environment: { RUSTC_WRAPPER: '', CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER: '/usr/bin/env' },
    });
  });

  // Tried with pnpm 10 and 11: a workspace file of the repository beats the environment, and the command line beats both.
  it('forces by the command line what a repository could set for pnpm', () => {
    const ruling = evaluateCommand(policy, ask(['pnpm', 'run', 'lint']));
    expect(ruling).toMatchObject({
      argvExecuted: [
        'pnpm',
        '--config.script-shell=/bin/sh',
        '--config.node-options=--no-warnings',
        '--config.enable-pre-post-scripts=false',
        '--config.ignore-pnpmfile=true',
        '--config.verify-deps-before-run=false',
        '--dir=.',
        'run',
        'lint',
      ],
      environment: { npm_config_manage_package_manager_versions: 'false', pnpm_config_pm_on_fail: 'ignore' },
    });
  });

  it('has bun write a report and fetch nothing', () => {
    const ruling = evaluateCommand(policy, ask(['bun', 'test']));
    expect(ruling).toMatchObject({
      argvExecuted: ['bun', 'test', '--no-install', '--reporter=junit', '--reporter-outfile=/report/bun.xml'],
      counts: { parser: 'bun-test', minExecuted: 1 },
    });
  });

  it('makes the environment from nothing but the policy', () => {
    const ruling = evaluateCommand(policy, ask(['node', '--test']));
    expect(ruling).toMatchObject({ environment: policy.environment });
  });
});

describe('a ruling', () => {
  it.each([
    ['a working directory that the template does not have', { cwd: 'worktree' as const }, 'cwd_invalid'],
    ['an exit code that the template does not permit', { expectExitCode: 1 }, 'expect_not_permitted'],
    ['no time', { timeoutSecs: 0 }, 'limit'],
    ['more time than there is', { timeoutSecs: 3601 }, 'limit'],
    ['a fraction of a second', { timeoutSecs: 1.5 }, 'limit'],
    ['an artifact outside the checkout', { artifacts: ['../x'] }, 'slot_invalid'],
    ['an absolute artifact', { artifacts: ['/etc/passwd'] }, 'slot_invalid'],
    ['an artifact twice', { artifacts: ['a', 'a'] }, 'slot_invalid'],
    ['too many artifacts', { artifacts: Array.from({ length: 33 }, (_, index) => `a${index}`) }, 'limit'],
  ])('refuses %s', (_, change, reason) => {
    const repoOnly = { ...policy, templates: policy.templates.map((one) => ({ ...one, cwd: ['repo' as const] })) };
    const ruling = evaluateCommand(repoOnly, ask(['node', '--test'], change));
    expect(ruling).toMatchObject({ allowed: false, reason });
  });

  it.each([
    ['too many arguments', Array.from({ length: 100_000 }, () => 'x')],
    ['an argument of a mebibyte', ['node', '--test', 'x'.repeat(1024 * 1024)]],
    ['arguments too long together', ['node', ...Array.from({ length: 20 }, () => 'x'.repeat(200))]],
    ['an argument too long in bytes only', ['node', 'é'.repeat(200)]],
  ])('[inv-19] refuses %s as a limit, at once', (_, argv) => {
    const began = performance.now();
    expect(reasonFor(argv)).toBe('limit');
    expect(performance.now() - began).toBeLessThan(100);
  });

  it('never repeats more than a bounded, printable part of what was asked', () => {
    const ruling = evaluateCommand(policy, ask([`\u202e${'x'.repeat(250)}`]));
    expect(ruling).toMatchObject({ allowed: false, reason: 'tool_unknown' });
    expect(!ruling.allowed && /^[\x20-\x7e]{1,64}$/.test(ruling.detail)).toBe(true);
  });
});

describe('[inv-19] whatever argv is accepted', () => {
  const token = fc.oneof(
    fc.constantFrom(...policy.templates.flatMap((one) => one.argv.filter((part) => typeof part === 'string'))),
    fc.stringMatching(/^[A-Za-z0-9._/@:=+-]{1,12}$/),
    fc.string({ maxLength: 8 }),
  );

  it('is an instance of a template', () => {
    fc.assert(
      fc.property(fc.array(token, { maxLength: 6 }), (argv) => {
        const ruling = evaluateCommand(policy, ask(argv));
        if (!ruling.allowed) return;
        const template = policy.templates.find((one) => one.id === ruling.template);
        expect(template !== undefined && matchTemplate(template, argv).kind).toBe('match');
        expect(argv.length).toBe(template?.argv.length);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is refused once one literal token is changed, one is added or one is left out', () => {
    const instance = fc
      .constantFrom(...policy.templates)
      .chain((template) => fc.record({ template: fc.constant(template), argv: fc.constant(sample(template)) }));
    fc.assert(
      fc.property(instance, fc.nat(), fc.stringMatching(/^[A-Za-z0-9._/@:=+-]{1,12}$/), (made, position, other) => {
        const { template, argv } = made;
        expect(evaluateCommand(policy, ask(argv)).allowed).toBe(true);
        const at = position % argv.length;
        fc.pre(typeof template.argv[at] === 'string' && argv[at] !== other);
        const changed = argv.with(at, other);
        fc.pre(!policy.templates.some((one) => matchTemplate(one, changed).kind === 'match'));
        expect(evaluateCommand(policy, ask(changed)).allowed).toBe(false);
        expect(evaluateCommand(policy, ask([...argv, `--${other}`])).allowed).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });

  it('stays within the limits', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 400 }), { maxLength: 40 }), (argv) => {
        const ruling = evaluateCommand(policy, ask(argv));
        if (ruling.allowed) expect(argv.length).toBeLessThanOrEqual(ARGV_LIMITS.arguments);
      }),
    );
  });
});

function sample(template: CommandTemplate): readonly string[] {
  const values: Readonly<Record<string, string>> = { path: 'test/a.test.js', crate: 'foo', script: '' };
  return template.argv.map((part) => {
    if (typeof part === 'string') return part;
    if (part.slot !== 'script') return values[part.slot] ?? '';
    return template.id.endsWith('-run-test') ? 'test' : 'lint';
  });
}
