import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SetupError, say } from './say.mjs';

const DEADLINE_MS = 10 * 60_000;

/** Two set-ups at once (`npm start` beside `npm test`) would install over each other: the second waits for the first. */
export async function withSetupLock(directory, work) {
  mkdirSync(directory, { recursive: true });
  const file = join(directory, 'setup.lock');
  const deadline = Date.now() + DEADLINE_MS;
  for (let told = false; !take(file); told = true) {
    if (!told) say('another set-up is under way here; waiting for it …');
    if (Date.now() > deadline) throw new SetupError(`the lock ${file} is still held`, 'Remove it if no set-up runs.');
    await delay(200);
  }
  try {
    await work();
  } finally {
    rmSync(file, { force: true });
  }
}

function take(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  if (!holderLives(file)) rmSync(file, { force: true });
  return false;
}

function holderLives(file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    // An empty file belongs to somebody who is just writing it.
    if (pid === 0) return true;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
