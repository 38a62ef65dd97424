// Emits JavaScript and types to dist/: Node refuses TypeScript under node_modules, so an installed package needs them.
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
const LAYERS = ['schemas', 'policies', 'workflows', 'activities', 'workers', 'gateway', 'client', 'cli', 'local'];
/** What code reads beside itself: documents, scripts of other languages, modules that run as they are. */
const ASSETS = /\.(?:json|lua|py|mjs|css|html)$/;

rmSync(dist, { recursive: true, force: true });
// JavaScript of everything as it stands (npm run typecheck judges it), then types of what others import, checked.
const tsc = join(root, 'node_modules/typescript/bin/tsc');
for (const project of ['tsconfig.build.json', 'tsconfig.types.json']) {
  const { status } = spawnSync(process.execPath, [tsc, '-p', project], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}

for (const layer of LAYERS) {
  for (const entry of readdirSync(join(root, layer), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !ASSETS.test(entry.name)) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    cpSync(path, join(dist, path.slice(root.length)));
  }
}
