#!/usr/bin/env node
// Starts the command whatever way it is here: the installed package has JavaScript under dist/, a clone has TypeScript,
// which needs the pinned Node that its packages bring.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const source = at('cli/main.ts');
const main = existsSync(source) ? source : at('dist/cli/main.js');
const pinned = at('node_modules/.bin/node');
const [major] = process.versions.node.split('.').map(Number);

if (major >= 24) {
  await import(pathToFileURL(main).href);
} else if (existsSync(pinned)) {
  const child = spawn(pinned, [main, ...process.argv.slice(2)], { stdio: 'inherit' });
  // A terminal's Ctrl-C reaches the child by itself. It decides when to end, so signals do not end this process.
  for (const name of ['SIGTERM', 'SIGHUP']) process.on(name, () => child.kill(name));
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
} else {
  console.error(`portcullis needs Node 24 or newer; this is ${process.version}. In a clone, run: npm run setup`);
  process.exitCode = 1;
}
