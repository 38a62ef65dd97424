import { spawnSync } from 'node:child_process';

/** A step of the set-up that failed: what happened, and what to do about it. */
export class SetupError extends Error {
  constructor(message, mend) {
    super(message);
    this.mend = mend;
  }
}

/** Progress goes to stderr: stdout belongs to the command that follows. */
export function say(sentence) {
  process.stderr.write(`portcullis: ${sentence}\n`);
}

/** Runs a program with its output on stderr; its exit code, or `null` when it could not be started. */
export function run(program, args, options = {}) {
  return spawnSync(program, args, { stdio: ['ignore', 2, 2], ...options }).status;
}

/** Standard output of a program that ended with 0, otherwise `null`. */
export function read(program, args) {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8', timeout: 30_000 });
  return status === 0 ? stdout : null;
}
