import { describe, expect, it } from 'vitest';
import { EGRESS_ORIGIN } from '../../../schemas/egress.ts';
import type { PrepareStep } from '../../../schemas/verify/prepare.ts';
import { planFor } from './plan.ts';
import type { CommitFiles, PreparePlan } from './types.ts';

const DIGEST = `sha512-${'A'.repeat(86)}==`;

const LOCKFILES: Readonly<Record<PrepareStep['tool'], readonly string[]>> = {
  npm: ['npm-shrinkwrap.json', 'package-lock.json'],
  pnpm: ['pnpm-lock.yaml'],
  cargo: ['Cargo.lock'],
  go: ['go.sum'],
  python3: ['requirements.txt', 'uv.lock'],
};

function plan(tool: PrepareStep['tool'], files: Readonly<Record<string, string>>): Promise<PreparePlan> {
  const commit: CommitFiles = {
    read: (path) => Promise.resolve(files[path] ?? null),
    named: (name) => Object.keys(files).filter((path) => path.split('/').at(-1) === name),
  };
  const step: PrepareStep = {
    id: 'test',
    tool,
    commands: [[tool]],
    lockfiles: LOCKFILES[tool],
    registries: [],
    timeoutSecs: 1,
    installScripts: false,
    maxBytes: 1,
    environment: {},
    provides: {},
  };
  return planFor(step, commit);
}

async function reasonOf(tool: PrepareStep['tool'], files: Readonly<Record<string, string>>): Promise<string> {
  const made = await plan(tool, files);
  return made.kind === 'ready' ? 'ready' : `${made.kind}: ${made.reason}`;
}

function npmLock(packages: Readonly<Record<string, unknown>>): Record<string, string> {
  return {
    'package.json': '{"name":"x","scripts":{"install":"evil"},"dependencies":{"dep":"1.0.0"}}',
    'package-lock.json': JSON.stringify({
      name: 'x',
      lockfileVersion: 3,
      packages: { '': { name: 'x' }, ...packages },
    }),
  };
}

const dep = (entry: Readonly<Record<string, unknown>>) =>
  npmLock({ 'node_modules/dep': { version: '1.0.0', integrity: DIGEST, ...entry } });

describe('npm', () => {
  it('[inv-05] writes a lockfile in which every package lies at the proxy, wherever the commit says it lies', async () => {
    const made = await plan('npm', dep({ resolved: 'https://evil.example/dep/-/dep-1.0.0.tgz' }));
    expect(made).toMatchObject({ kind: 'ready', sees: 'files', places: [''] });
    const files = made.kind === 'ready' ? made.files : [];
    expect(files.map(({ path }) => path)).toEqual(['package-lock.json', 'package.json']);
    const text = files.map((file) => file.text).join('\n');
    expect(text).toContain(`${EGRESS_ORIGIN}/npm/dep/-/dep-1.0.0.tgz`);
    expect(text).not.toMatch(/evil/);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['git+ssh', dep({ resolved: 'git+ssh://git@github.com/a/b.git#c' }), /comes from git\+ssh/],
    ['a file', dep({ resolved: 'file:dep.tgz' }), /comes from file:/],
    ['an archive somewhere', dep({ resolved: 'https://codeload.example/a/b/tar.gz/c' }), /not from a registry/],
    ['no digest', dep({ integrity: undefined }), /no SHA-256/],
    ['a SHA-1 digest', dep({ integrity: 'sha1-AAAAAAAAAAAAAAAAAAAAAAAAAAA=' }), /no SHA-256/],
    ['a version that is an address', dep({ version: 'github:a/b' }), /version is none/],
    ['a name that climbs', dep({ name: '../../evil' }), /name is none/],
    [
      'a link out of the tree',
      npmLock({ 'node_modules/dep': { link: true, resolved: '../evil' } }),
      /links to something/,
    ],
    [
      'a package that says it is bundled where nothing bundles it',
      dep({ inBundle: true, integrity: undefined, resolved: `${EGRESS_ORIGIN}/npm/other/-/other-1.0.0.tgz` }),
      /nothing bundles it/,
    ],
    [
      'a package bundled by a package without a digest',
      npmLock({
        'packages/a': { version: '1.0.0', inBundle: true, integrity: DIGEST },
        'packages/a/node_modules/dep': { version: '1.0.0', inBundle: true },
      }),
      /nothing bundles it/,
    ],
    ['a place out of the tree', npmLock({ '../evil': { version: '1.0.0' } }), /\.\. segment/],
    [
      'a lockfile of version 1',
      { 'package.json': '{}', 'package-lock.json': '{"dependencies":{}}' },
      /lockfileVersion 2/,
    ],
    ['no JSON', { 'package.json': '{}', 'package-lock.json': 'x' }, /not one JSON object/],
    ['a member without a manifest', npmLock({ 'packages/a': { version: '1.0.0' } }), /missing/],
    ['no lockfile', { 'package.json': '{"dependencies":{"a":"1"}}' }, /no package-lock/],
  ])('[inv-05] [inv-19] refuses %s by name', async (_, files, reason) => {
    expect(await reasonOf('npm', files)).toMatch(new RegExp(`^refused: .*${reason.source}`));
  });

  it('[inv-05] has what is bundled come in its archive, and nothing from where it is said to lie', async () => {
    const made = await plan('npm', {
      ...npmLock({
        'node_modules/dep': { version: '1.0.0', integrity: DIGEST },
        'node_modules/dep/node_modules/inner': { version: '2.0.0', inBundle: true, resolved: 'https://evil.example/' },
        'packages/a': { version: '1.0.0', resolved: 'git+ssh://git@evil.example/a.git' },
        'node_modules/a': { resolved: 'packages/a', link: true },
      }),
      'packages/a/package.json': '{"name":"a"}',
    });
    expect(made).toMatchObject({ kind: 'ready', places: ['', 'packages/a'] });
    const text = made.kind === 'ready' ? made.files.map((file) => file.text).join('\n') : '';
    expect(text).toContain('inner');
    expect(text).not.toContain('evil');
  });

  it('has nothing to do without a manifest or dependencies', async () => {
    expect(await reasonOf('npm', {})).toMatch(/^not_needed/);
    expect(await reasonOf('npm', { 'package.json': '{"name":"x"}' })).toMatch(/^not_needed/);
  });

  it('[inv-05] makes another key of another lockfile or manifest', async () => {
    const inputsOf = async (files: Record<string, string>) => {
      const made = await plan('npm', files);
      return made.kind === 'ready' ? JSON.stringify(made.inputs) : '';
    };
    const files = dep({});
    const one = await inputsOf(files);
    expect(await inputsOf(dep({ version: '1.0.1' }))).not.toBe(one);
    expect(await inputsOf({ ...files, 'package.json': '{"name":"y"}' })).not.toBe(one);
    // What no tool is shown is no part of it.
    expect(await inputsOf({ ...files, '.npmrc': 'registry=https://evil.example' })).toBe(one);
  });
});

describe('pnpm', () => {
  const lock = (resolution: string) => ({
    'package.json': '{"name":"x","pnpm":{"overrides":{"a":"1"},"onlyBuiltDependencies":["dep"]}}',
    'pnpm-workspace.yaml':
      'packages:\n  - a\nregistries:\n  default: https://evil.example\nconfigDependencies:\n  evil: 1\n',
    'pnpm-lock.yaml': `lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies: {}\n\npackages:\n\n  dep@1.0.0:\n    resolution: ${resolution}\n`,
  });

  it('[inv-05] hands on versions and layout, and no setting that runs or redirects anything', async () => {
    const made = await plan('pnpm', lock(`{integrity: ${DIGEST}}`));
    expect(made).toMatchObject({ kind: 'ready', sees: 'files', places: [''] });
    const text = made.kind === 'ready' ? made.files.map((file) => file.text).join('\n') : '';
    expect(text).toContain('packages:\n  - a');
    expect(text).toContain('"overrides":{"a":"1"}');
    expect(text).not.toMatch(/evil|onlyBuilt|configDependencies/);
  });

  it.each([
    ['an archive elsewhere', '{tarball: https://evil.example/a.tgz}', /outside a registry/],
    ['git', '{commit: abc, repo: git@github.com:a/b.git, type: git}', /outside a registry/],
    [
      'a digest with a place beside it',
      `{integrity: ${DIGEST}, tarball: https://evil.example/a.tgz}`,
      /outside a registry/,
    ],
    ['no digest', '{}', /no digest/],
    ['another form', '\n      tarball: x', /no digest/],
    [
      'a second one that is spelled otherwise',
      `{integrity: ${DIGEST}}\n    "resol\\u0075tion": {tarball: x}`,
      /none that pnpm/,
    ],
  ])('[inv-05] [inv-19] refuses %s in a pnpm-lock.yaml', async (_, resolution, reason) => {
    expect(await reasonOf('pnpm', lock(resolution))).toMatch(reason);
  });

  const held = `    resolution: {integrity: ${DIGEST}}\n`;
  const hidden = '"resol\\u0075tion": {tarball: x}\n';
  it.each([
    ['deeper than pnpm does', `packages:\n\n     dep@1.0.0:\n       ${hidden}`],
    ['in a document that is indented as a whole', `---\n  packages:\n    dep@1.0.0:\n      ${hidden}`],
    ['behind a comment', `packages:\n  a@1.0.0:\n${held}# a\n  dep@1.0.0:\n    ${hidden}`],
    ['under a quoted name', `"packages":\n  dep@1.0.0:\n    ${hidden}`],
    ['as one flow', `packages: {dep@1.0.0: {${hidden.trim()}}}\n`],
    ['under an explicit key', `packages:\n  ? dep@1.0.0\n  : ${hidden}`],
    ['among what was installed', `snapshots:\n  dep@1.0.0:\n    ${hidden}`],
    ['by an anchor there', 'time:\n  a: &a resolution\nsnapshots:\n  dep@1.0.0:\n    *a : {tarball: x}\n'],
    ['by an anchor', `packages:\n  dep@1.0.0: &a\n    ${hidden}`],
    [
      'after text that does not end',
      `packages:\n  a@1.0.0:\n${held}    deprecated: "x\nsnapshots:\n "\n  dep@1.0.0:\n    ${hidden}`,
    ],
    ['last, without a digest', 'packages:\n  dep@1.0.0:\n'],
  ])(
    '[inv-05] [inv-19] refuses a package that is named %s, which a reader of lines would not see',
    async (_, packages) => {
      const files = lock(`{integrity: ${DIGEST}}`);
      const text = `lockfileVersion: '9.0'\n${packages}`;
      expect(await reasonOf('pnpm', { ...files, 'pnpm-lock.yaml': text })).toMatch(/^refused: pnpm-lock.yaml, /);
    },
  );

  it('reads what pnpm writes beside digests', async () => {
    const files = lock(`{integrity: ${DIGEST}}
    engines: {node: '>=4'}
    deprecated: "Says \\"no\\" and 'why': at length"
    peerDependencies:
      other: '*'
    hasBin: true

  '@scope/dep@1.0.0(other@2.0.0)':
    resolution: {integrity: ${DIGEST}}
    cpu: [x64]

snapshots:

  dep@1.0.0: {}`);
    expect(await reasonOf('pnpm', files)).toBe('ready');
  });

  it('[inv-19] refuses patches and hooks, which would change what is installed', async () => {
    const files = lock(`{integrity: ${DIGEST}}`);
    const hooked = { ...files, 'pnpm-lock.yaml': `pnpmfileChecksum: x\n${files['pnpm-lock.yaml']}` };
    expect(await reasonOf('pnpm', hooked)).toMatch(/pnpmfileChecksum would run/);
  });
});

describe('cargo', () => {
  const CHECKSUM = `checksum = "${'a'.repeat(64)}"\n`;
  const CRATES_IO = 'registry+https://github.com/rust-lang/crates.io-index';
  const lock = (more: string) => ({
    'Cargo.toml': '[package]\nname = "x"\n[dependencies]\n',
    'Cargo.lock': `version = 4\n\n[[package]]\nname = "dep"\nversion = "1.0.0"\n${more}`,
  });
  const from = (source: string) => lock(`source = "${source}"\n${CHECKSUM}`);

  it.each([
    ['git', 'git+https://github.com/a/b#c'],
    ['another registry', 'registry+https://evil.example/index'],
    ['a sparse registry elsewhere', 'sparse+https://evil.example/'],
  ])('[inv-05] [inv-19] refuses a package of %s by name', async (_, source) => {
    expect(await reasonOf('cargo', from(source))).toMatch(/^refused: .*no permitted registry/);
  });

  it.each([
    ['a quoted key', `"source" = "git+https://evil.example/a"\n`],
    ['another kind of string', `source = 'git+https://evil.example/a'\n`],
    ['an escape', 'source = "git\\u002bhttps://evil.example/a"\n'],
    ['no space', `source="git+https://evil.example/a"\n`],
    ['an inline table', `[a]\nb = { source = "git+https://evil.example/a" }\n`],
    ['a table of another name', `[[ "package" ]]\nname = "b"\nsource = "git+https://evil.example/a"\n`],
  ])('[inv-05] [inv-19] refuses a source in a form that cargo reads and does not write: %s', async (_, more) => {
    expect(await reasonOf('cargo', lock(more))).toMatch(/^refused: Cargo.lock: line \d+ is none that cargo writes/);
  });

  it('[inv-05] [inv-19] refuses a package of a registry without a digest, by name', async () => {
    expect(await reasonOf('cargo', lock(`source = "${CRATES_IO}"\n`))).toBe('refused: Cargo.lock: dep has no digest');
    const none = `source = "${CRATES_IO}"\n\n[metadata]\n"checksum dep 1.0.0 (${CRATES_IO})" = "<none>"\n`;
    expect(await reasonOf('cargo', lock(none))).toBe('refused: Cargo.lock: dep has no digest');
  });

  it('reads lockfiles of every version that cargo has written', async () => {
    const dependencies = 'dependencies = [\n "other",\n "other 1.0.0",\n]\n';
    const metadata = `\n[metadata]\n"checksum dep 1.0.0 (${CRATES_IO})" = "${'a'.repeat(64)}"\n`;
    expect(await reasonOf('cargo', lock(`source = "${CRATES_IO}"\n${dependencies}${metadata}`))).toBe('ready');
    expect(await reasonOf('cargo', lock(`source = "${CRATES_IO}"\n${CHECKSUM}${dependencies}`))).toBe('ready');
  });

  it('reads the commit where it is, from outside of it, so that no configuration of it counts', async () => {
    const made = await plan('cargo', from(CRATES_IO));
    expect(made).toMatchObject({ kind: 'ready', sees: 'commit', chdir: '/home/run' });
  });

  it('says when a lockfile is missing, and when there is nothing to fetch', async () => {
    expect(await reasonOf('cargo', { 'Cargo.toml': '[dependencies]\n' })).toMatch(/^refused: .*no Cargo.lock/);
    expect(await reasonOf('cargo', { 'Cargo.toml': '[package]\n' })).toMatch(/^not_needed/);
    expect(await reasonOf('cargo', { 'Cargo.toml': '[package]\n', 'Cargo.lock': 'version = 4\n' })).toMatch(
      /^not_needed/,
    );
  });
});

describe('go', () => {
  const files = (more: string) => ({ 'go.mod': `module x\n\nrequire a.example/b v1.0.0\n${more}`, 'go.sum': 'x' });

  it.each([
    ['an absolute path', 'replace a.example/b => /etc'],
    ['a path that climbs', 'replace a.example/b => ../../outside'],
    ['a path that climbs later', 'replace a.example/b => ./sub/../../outside'],
    ['the directory above', 'replace a.example/b => ..'],
    ['a path in quotes', 'replace a.example/b => "/etc"'],
    ['a path in raw quotes', 'replace a.example/b => `../outside`'],
    ['one of several', 'replace (\n\ta.example/b => ./b // here\n\ta.example/c v1.0.0 => ../c\n)'],
  ])('[inv-05] [inv-19] refuses a module that is replaced by %s', async (_, more) => {
    expect(await reasonOf('go', files(more))).toMatch(/^refused: go.mod names .* outside the tree/);
  });

  it.each([
    ['replaces one by an absolute path', 'go 1.24\nreplace a.example/b => /etc\n', ''],
    ['has a member outside', 'go 1.24\nuse (\n\t.\n\t../outside\n)\n', ''],
    ['has a member that climbs', 'go 1.24\nuse ./a/../..\n', ''],
    [
      'has a member that replaces one by a path outside',
      'go 1.24\nuse ./sub\n',
      'replace a.example/b => ../../outside',
    ],
  ])('[inv-05] [inv-19] refuses a go.work that %s', async (_, work, sub) => {
    const reason = await reasonOf('go', { ...files(''), 'go.work': work, 'sub/go.mod': `module y\n${sub}` });
    expect(reason).toMatch(/^refused: (?:go.work|sub\/go.mod) names .* outside the tree/);
  });

  it('has modules of the tree replace others, from where they are', async () => {
    const more = 'replace a.example/b => ./sub\nreplace a.example/c => d.example/c v1.0.0\n';
    const sub = 'module y\nreplace x => ../\n';
    const work = 'go 1.24\nuse ./sub\nuse .\n';
    expect(await reasonOf('go', { ...files(more), 'sub/go.mod': sub, 'go.work': work })).toBe('ready');
  });

  it('hands on module files only: no go.env, no flags', async () => {
    const made = await plan('go', {
      ...files(''),
      'go.env': 'GOFLAGS=-toolexec=/work/evil',
      'sub/go.mod': 'module y\n',
    });
    expect(made.kind === 'ready' && made.files.map(({ path }) => path)).toEqual(['go.mod', 'go.sum', 'sub/go.mod']);
  });

  it('has nothing to do for vendored modules, and refuses when go.sum is missing', async () => {
    expect(await reasonOf('go', { ...files(''), 'vendor/modules.txt': '' })).toMatch(/^not_needed/);
    expect(await reasonOf('go', { 'go.mod': 'module x\nrequire a.example/b v1.0.0\n' })).toMatch(
      /^refused: .*no go.sum/,
    );
    expect(await reasonOf('go', { 'go.mod': 'module x\n' })).toMatch(/^not_needed/);
  });
});

describe('pip', () => {
  const pinned = `six==1.16.0 \\\n    --hash=sha256:${'a'.repeat(64)} \\\n    --hash=sha256:${'b'.repeat(64)}\n    # via x\n`;

  it('writes each requirement anew, with its digests', async () => {
    const made = await plan('python3', { 'requirements.txt': `# made by hand\n${pinned}` });
    const [file] = made.kind === 'ready' ? made.files : [];
    expect(file?.text).toBe(`six==1.16.0 --hash=sha256:${'a'.repeat(64)} --hash=sha256:${'b'.repeat(64)}\n`);
  });

  it.each([
    ['another index', '--index-url https://evil.example/simple'],
    ['one more index', '--extra-index-url https://evil.example/simple'],
    ['a place with files', '--find-links https://evil.example'],
    ['builds from source', '--no-binary :all:'],
    ['an editable tree', '-e .'],
    ['another file', '-r ../other.txt'],
    ['an address', 'https://evil.example/a.whl'],
    ['a name with an address', `six @ https://evil.example/a.whl --hash=sha256:${'a'.repeat(64)}`],
    ['git', 'git+ssh://git@github.com/a/b'],
    ['a file', './a.whl'],
    ['no digest', 'six==1.16.0'],
    ['a range', `six>=1 --hash=sha256:${'a'.repeat(64)}`],
    ['an option behind the digest', `six==1.16.0 --hash=sha256:${'a'.repeat(64)} --config-settings=x`],
    ['a marker with more than a marker', `six==1.16.0 ; x\` --hash=sha256:${'a'.repeat(64)}`],
  ])('[inv-05] [inv-19] refuses %s, with its line', async (_, line) => {
    expect(await reasonOf('python3', { 'requirements.txt': `${pinned}${line}\n` })).toMatch(
      /^refused: requirements.txt, line/,
    );
  });
});

describe('a Python project', () => {
  const hashed = `six==1.16.0 --hash=sha256:${'a'.repeat(64)}\n`;

  it('is known by its name and version, without being built', async () => {
    const pyproject =
      '[build-system]\nrequires = []\n\n[project]\nname = "my-project"\nversion = "1.2"\n\n[tool.x]\nname = "y"\n';
    const made = await plan('python3', { 'requirements.txt': hashed, 'pyproject.toml': pyproject });
    expect(made.kind === 'ready' && made.settings[0]).toEqual({
      path: 'project/my_project-1.2.dist-info/METADATA',
      text: 'Metadata-Version: 2.1\nName: my-project\nVersion: 1.2\n',
    });
  });

  it.each(['../../evil', 'a/b', '', 'a\\nb'])('[inv-19] is not known by the name %j', async (name) => {
    const pyproject = `[project]\nname = "${name}"\nversion = "1"\n`;
    const made = await plan('python3', { 'requirements.txt': hashed, 'pyproject.toml': pyproject });
    expect(made).toMatchObject({ kind: 'ready', settings: [] });
  });
});

describe('uv.lock', () => {
  const hash = (letter: string) => `sha256:${letter.repeat(64)}`;
  const lock = (source: string) => `version = 1
requires-python = ">=3.10"

[[package]]
name = "a"
version = "1.0"
source = { ${source} }
dependencies = [
    { name = "b", marker = "python_full_version < '3.12'" },
]
sdist = { url = "https://evil.example/a.tar.gz", hash = "${hash('1')}", size = 1 }
wheels = [
    { url = "https://evil.example/a.whl", hash = "${hash('2')}", size = 1 },
]

[[package]]
name = "b"
version = "2.0"
source = { registry = "https://pypi.org/simple" }
wheels = [
    { url = "https://evil.example/b.whl", hash = "${hash('3')}", size = 1 },
]

[[package]]
name = "linter"
version = "3.0"
source = { git = "https://evil.example/linter" }

[[package]]
name = "project"
version = "0.1"
source = { editable = "." }

[package.dev-dependencies]
docs = [
    { name = "linter" },
]
tests = [{ name = "a" }]
`;

  it('gives what the tests need, by digest and marker, wherever it is said to lie', async () => {
    const made = await plan('python3', { 'uv.lock': lock('registry = "https://evil.example/simple"') });
    expect(made.kind === 'ready' && made.files).toEqual([
      {
        path: 'requirements.txt',
        text: `a==1.0 --hash=${hash('1')} --hash=${hash('2')}\nb==2.0 ; (python_full_version < '3.12') --hash=${hash('3')}\n`,
      },
    ]);
  });

  it.each([
    'git = "https://evil.example/a"',
    'path = "../a"',
    'url = "https://evil.example/a.whl"',
    'directory = "../a"',
  ])('[inv-05] [inv-19] refuses a package whose source is { %s }', async (source) => {
    expect(await reasonOf('python3', { 'uv.lock': lock(source) })).toMatch(/^refused: a in uv.lock is of no registry/);
  });
});
