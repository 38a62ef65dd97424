/** A Python with the official A2A client, made once and kept beside the installed packages. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { contentDigest, digestHex } from '../../../schemas/digest.ts';

const run = promisify(execFile);
const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
const CACHE = join(import.meta.dirname, '..', '..', '..', 'node_modules', '.cache', 'portcullis');

/** Path of the interpreter. Needs Python 3.10 or later with venv, and whatever index this machine's pip uses. */
export async function pythonWithClient(): Promise<string> {
  const name = `python-${digestHex(contentDigest(await readFile(REQUIREMENTS))).slice(0, 16)}`;
  const environment = join(CACHE, name);
  const interpreter = join(environment, 'bin', 'python');
  if (existsSync(interpreter)) return interpreter;
  await mkdir(CACHE, { recursive: true });
  const making = await mkdtemp(join(CACHE, 'making-'));
  try {
    await run('python3', ['-m', 'venv', making]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS];
    await run(join(making, 'bin', 'python'), pip);
    // Somebody else may have been quicker; theirs is as good.
    await rename(making, environment).catch((thrown: unknown) => {
      if (!existsSync(interpreter)) throw thrown;
    });
  } finally {
    await rm(making, { recursive: true, force: true });
  }
  return interpreter;
}
