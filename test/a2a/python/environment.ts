/** A Python with the packages of a requirements file, made once and kept beside the installed packages. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { contentDigest, digestHex } from '../../../schemas/digest.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..', '..');
const CACHE = join(ROOT, 'node_modules', '.cache', 'portcullis');

/** With the official A2A client. */
export function pythonWithClient(): Promise<string> {
  return pythonOf(join(import.meta.dirname, 'requirements.txt'));
}

/** With what the example of a Temporal client needs. */
export function pythonWithTemporal(): Promise<string> {
  return pythonOf(join(ROOT, 'examples', 'python-client', 'requirements.txt'));
}

/** Path of the interpreter. Needs Python 3.10 or later with venv, and whatever index this machine's pip uses. */
async function pythonOf(requirements: string): Promise<string> {
  const name = `python-${digestHex(contentDigest(await readFile(requirements))).slice(0, 16)}`;
  const environment = join(CACHE, name);
  const interpreter = join(environment, 'bin', 'python');
  if (existsSync(interpreter)) return interpreter;
  await mkdir(CACHE, { recursive: true });
  const making = await mkdtemp(join(CACHE, 'making-'));
  try {
    await run('python3', ['-m', 'venv', making]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements];
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
