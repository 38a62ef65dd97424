// Dependency-free set-up: runs on whatever Node 20+ the machine has.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
const lock = 'node_modules/.package-lock.json';
if (!existsSync(lock) || statSync(lock).mtimeMs < statSync('package-lock.json').mtimeMs) {
  console.error('portcullis: installing packages (npm ci) …');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}
