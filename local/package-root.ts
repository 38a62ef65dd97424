/** Where this package lives: a clone (TypeScript, run as it is) or an installed package (JavaScript under `dist/`). */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** How the code at hand is laid out. `.ts` in a clone, `.js` in an installed package. */
export const MODULE_SUFFIX = import.meta.filename.endsWith('.ts') ? '.ts' : '.js';

/** The directory of the layers (`schemas/`, `cli/`, …): the clone itself, or `dist/` of the package. */
export const CODE_ROOT = dirname(import.meta.dirname);

/** The directory of `package.json`. */
export const PACKAGE_ROOT = MODULE_SUFFIX === '.ts' ? CODE_ROOT : dirname(CODE_ROOT);

/** The absolute path of a module of ours, for starting it as a process. @example modulePath('cli/main') */
export function modulePath(module: string): string {
  return join(CODE_ROOT, `${module}${MODULE_SUFFIX}`);
}

/** True in a clone, where set-up, state and tools live beside the code. */
export function isClone(): boolean {
  return MODULE_SUFFIX === '.ts' && existsSync(join(PACKAGE_ROOT, 'scripts', 'setup.mjs'));
}
