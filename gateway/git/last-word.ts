/**
 * Asks once more, when git has unpacked and checked a push and is about to move the ref: a slow push must not outlive what
 * allowed it. git asks by a hook of ours, the only one that runs, over two descriptors that the hook inherits.
 */
import { constants } from 'node:fs';
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { portcullisError } from '../../schemas/errors.ts';

export interface LastWord {
  /** Directory of the hook. */
  readonly hooks: string;
  /** `null` lets the ref move; a sentence refuses, and the pusher reads it. */
  readonly ask: () => Promise<string | null>;
}

/** Descriptors of the hook: where it hears the answer, where it asks. */
export const ANSWER_FD = 3;
export const QUESTION_FD = 4;
export const GO = 'go';

const HOOK = `#!/bin/sh
# Written by the gateway: lets a push through when the gateway says so, once more.
printf '?' >&${QUESTION_FD} || exit 1
read -r answer <&${ANSWER_FD} || exit 1
[ "$answer" = ${GO} ] && exit 0
printf '%s\\n' "$answer" >&2
exit 1
`;

/**
 * The directory of the hook, made where it is not there. git passes over a hook that it cannot run, so whether it can is seen
 * here, before every push. A tenant's name never begins with a dot.
 * @throws `internal`
 */
export async function hooksDirectory(repositoriesDir: string): Promise<string> {
  const directory = join(repositoriesDir, '.hooks');
  const hook = join(directory, 'pre-receive');
  if ((await readFile(hook, 'utf8').catch(() => '')) !== HOOK) {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const fresh = join(directory, `.${process.pid}-${performance.now()}`);
    await writeFile(fresh, HOOK, { mode: 0o500, flag: 'wx' });
    await rename(fresh, hook).finally(() => rm(fresh, { force: true }));
  }
  await access(hook, constants.X_OK).catch((thrown: unknown) => {
    throw portcullisError('internal', {}, thrown);
  });
  return directory;
}
