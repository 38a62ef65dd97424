/**
 * Which files of this program a workspace gets to see, and where: the executor's code and what it imports, read-only, at a
 * neutral place. Never the whole clone: the stack's state and keys live in it.
 */
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { CODE_ROOT, MODULE_SUFFIX, PACKAGE_ROOT } from '../package-root.ts';

export interface Bind {
  readonly source: string;
  readonly target: string;
  readonly writable: boolean;
}

export interface WorkspaceProgram {
  readonly binds: readonly Bind[];
  /** What runs inside, by its paths there. */
  readonly argv: readonly string[];
}

const PROGRAM = '/opt/portcullis';
const NODE = '/opt/runtime/node';
/** The layers that the executor and the harness are made of (DESIGN section 3). */
const LAYERS = ['schemas', 'policies', 'activities', 'workers'] as const;

/** `entry` is a module of ours without its suffix; `more` are directories that are shown beside the layers. */
export async function workspaceProgram(
  entry = 'workers/executor/main',
  more: readonly string[] = [],
): Promise<WorkspaceProgram> {
  const node = readOnly(await realpath(process.execPath), NODE);
  const main = `${entry}${MODULE_SUFFIX}`;
  const installed = PACKAGE_ROOT.indexOf('/node_modules/');
  if (installed >= 0) {
    // An installed package: what it imports lies beside it, in the outermost node_modules.
    const modules = PACKAGE_ROOT.slice(0, installed + '/node_modules'.length);
    const inside = `${PROGRAM}/node_modules${CODE_ROOT.slice(modules.length)}`;
    return { binds: [node, readOnly(modules, `${PROGRAM}/node_modules`)], argv: [NODE, `${inside}/${main}`] };
  }
  const inside = `${PROGRAM}${CODE_ROOT.slice(PACKAGE_ROOT.length)}`;
  return {
    binds: [
      node,
      ...['package.json', 'node_modules'].map((name) => readOnly(join(PACKAGE_ROOT, name), `${PROGRAM}/${name}`)),
      ...[...LAYERS, ...more].map((layer) => readOnly(join(CODE_ROOT, layer), `${inside}/${layer}`)),
    ],
    argv: [NODE, `${inside}/${main}`],
  };
}

export function readOnly(source: string, target: string): Bind {
  return { source, target, writable: false };
}
