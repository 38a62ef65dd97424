// Packs the package, installs the tarball in an empty folder and uses it there as a stranger would.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'portcullis-package-'));
// The clone's own Node first, as in its npm scripts; nothing else of the clone is in reach.
const environment = {
  ...process.env,
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  PORTCULLIS_STATE_DIR: join(folder, 'state'),
};

const say = (sentence) => process.stderr.write(`package: ${sentence}\n`);

function run(program, args, cwd = folder) {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env: environment,
    encoding: 'utf8',
    timeout: 300_000,
  });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

function expectThat(what, holds) {
  if (!holds) throw new Error(`${what} does not hold`);
  say(`${what}: yes`);
}

try {
  say('packing …');
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', folder], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 2],
    }),
  );
  const files = packed.files.map(({ path }) => path);
  expectThat(
    'no TypeScript source is packed',
    files.every((path) => !path.endsWith('.ts') || path.endsWith('.d.ts')),
  );
  expectThat(
    'no test, key or state is packed',
    files.every((path) => !/^dist\/.*\.test\.|^test\/|\.portcullis|\.pem$/.test(path)),
  );

  say(
    `installing ${packed.filename} (${files.length} files, ${Math.round(packed.unpackedSize / 1024)} KiB) in an empty folder …`,
  );
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'stranger', private: true, type: 'module' }));
  run('npm', ['install', '--no-audit', '--no-fund', '--omit=dev', join(folder, packed.filename)]);
  const bin = join(folder, 'node_modules/.bin/portcullis');

  expectThat('portcullis --version answers', run(bin, ['--version']).trim() === version);
  const client = `import { GatewayClient } from 'portcullis'; console.log(typeof GatewayClient)`;
  expectThat(
    'the client can be imported',
    run(process.execPath, ['--input-type=module', '-e', client]).trim() === 'function',
  );
  const executor = `import { startExecutor } from 'portcullis/executor'; console.log(typeof startExecutor)`;
  expectThat(
    'the executor can be imported',
    run(process.execPath, ['--input-type=module', '-e', executor]).trim() === 'function',
  );
  const checked = JSON.parse(run(bin, ['policy', 'check', '--json', '--', 'node', '--test']));
  expectThat('policy check allows node --test', checked.kind === 'PolicyCheck' && checked.allowed === true);
  const replayed = JSON.parse(run(bin, ['replay', join(root, 'test/histories'), '--json']));
  expectThat('the packed workflows replay every history', replayed.kind === 'Replay' && replayed.failed === 0);
} catch (error) {
  say(error.message);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
