/**
 * The workflow bundle, kept between starts: bundling takes seconds, and its inputs rarely change. The name of the file is
 * the digest of everything that goes in, so a changed source or package is another file.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflows } from '../workers/control/workflow-bundle.ts';
import { contentDigest, digestHex } from '../schemas/digest.ts';
import { CODE_ROOT, PACKAGE_ROOT } from './package-root.ts';

/** Layers whose code is in the bundle (DESIGN section 3: a workflow may import no other). */
const LAYERS = ['workflows', 'policies', 'schemas'] as const;

/** @param directory belongs to the owner alone: what lies there is run as a workflow */
export async function cachedWorkflowBundle(directory: string): Promise<{ readonly codePath: string }> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const name = `workflows-${await inputsDigest()}.js`;
  const codePath = join(directory, name);
  const kept = (await readdir(directory)).filter((entry) => entry.startsWith('workflows-'));
  if (kept.includes(name)) return { codePath };
  const { code } = await bundleWorkflows();
  const staging = join(directory, `.${name}.${process.pid}`);
  await writeFile(staging, code, { mode: 0o600 });
  await rename(staging, codePath);
  for (const old of kept) await rm(join(directory, old), { force: true });
  return { codePath };
}

async function inputsDigest(): Promise<string> {
  const lists = await Promise.all(
    LAYERS.map(async (layer) => {
      const names = await readdir(join(CODE_ROOT, layer), { recursive: true });
      return names.filter((name) => /\.[jt]s$/.test(name) && !name.includes('.test.')).map((name) => join(layer, name));
    }),
  );
  const parts = await Promise.all([
    ...lists
      .flat()
      .toSorted()
      .map(async (path) => `${path}\0${await readFile(join(CODE_ROOT, path), 'utf8')}`),
    // Which packages are bundled: npm's record of what is installed, or else our own manifest's pins.
    readFile(join(PACKAGE_ROOT, 'node_modules/.package-lock.json'), 'utf8').catch(() => ''),
    readFile(join(PACKAGE_ROOT, 'package.json'), 'utf8'),
    Promise.resolve(process.version),
  ]);
  return digestHex(contentDigest(new TextEncoder().encode(parts.join('\0\0')))).slice(0, 32);
}
