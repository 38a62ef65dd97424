/** Which Python a command runs with once an environment is prepared. */
import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findTool, type Toolchains } from '../toolchains.ts';
import { PROJECT_METADATA } from './python-project.ts';

export interface PreparedPython {
  readonly command: readonly string[] | null;
  readonly environment: Readonly<Record<string, string>>;
}

const VENV = '/prepared/venv';
/** The project's packages where they lie below `src`, and its name and version. */
const PROJECT = `/work/src:/prepared/${PROJECT_METADATA}`;

/** pytest of the environment where it has one; otherwise the machine's, which then sees the environment's packages. */
export async function preparedPython(
  toolchains: Toolchains,
  data: string,
  argv: readonly string[],
): Promise<PreparedPython> {
  const python = findTool(toolchains, 'python3');
  if (python === null || argv[0] !== 'pytest') return { command: null, environment: {} };
  const via = python.command.slice(0, -1);
  try {
    await access(join(data, 'venv', 'bin', 'pytest'));
    return { command: [...via, `${VENV}/bin/python`, `${VENV}/bin/pytest`], environment: { PYTHONPATH: PROJECT } };
  } catch {
    const [version = ''] = await readdir(join(data, 'venv', 'lib'));
    return { command: null, environment: { PYTHONPATH: `${PROJECT}:${VENV}/lib/${version}/site-packages` } };
  }
}
