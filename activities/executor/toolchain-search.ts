/** Finds the toolchains of this machine behind its PATH: the real ones, past shims that would choose a version by themselves. */
import { execFile } from 'node:child_process';
import { access, constants, readFile, realpath, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { insidePath, TOOLCHAIN_ROOT, type Tool, type ToolchainMount, type Toolchains } from './toolchains.ts';

const run = promisify(execFile);

/** What one search found: where it lives and what it offers. */
interface Found {
  readonly mounts: readonly ToolchainMount[];
  readonly tools: readonly FoundTool[];
}

interface FoundTool {
  readonly name: string;
  /** With paths of this machine. */
  readonly command: readonly string[];
  /** Words before the command, as a sandbox sees them. */
  readonly via?: readonly string[];
  /** Files that tell one version from another where the command does not: an entry file may only load the rest. */
  readonly tells?: readonly string[];
}

/** Tools that are not here are left out; a command that needs one is answered with `failed_to_start`. */
export async function searchToolchains(path: string = process.env['PATH'] ?? ''): Promise<Toolchains> {
  const searches = [searchNode, searchBun, searchCargo, searchGo, searchPython, searchMake];
  const found = await Promise.all(searches.map((search) => search(path).catch(() => null)));
  const mounts = found.flatMap((one) => one?.mounts ?? []);
  return {
    mounts,
    tools: found
      .flatMap((one) => one?.tools ?? [])
      .map(({ name, command, via = [], tells = [] }): Tool => {
        const inside = command.map((file) => insidePath(mounts, file));
        return { name, command: [...via, ...inside], files: [...command, ...tells] };
      }),
  };
}

/** The first executable of this name on the PATH; `null` when there is none. Relative entries are skipped. */
export async function findOnPath(name: string, path: string): Promise<string | null> {
  for (const directory of path.split(delimiter)) {
    if (!isAbsolute(directory)) continue;
    const candidate = join(directory, name);
    if (await isExecutable(candidate)) return candidate;
  }
  return null;
}

async function searchNode(path: string): Promise<Found | null> {
  const node = await realOnPath('node', path);
  if (node === null) return null;
  const tools: FoundTool[] = [{ name: 'node', command: [node] }];
  const mounts = mountsOf('node', dirname(dirname(node)));
  const npm = await findNpm(node, path);
  const pnpm = await realOnPath('pnpm', path);
  // Version managers put a shim there, which would fetch a version; only pnpm's own entry file is pnpm.
  const own = pnpm !== null && /^pnpm\.[cm]js$/.test(basename(pnpm)) ? pnpm : null;
  for (const [name, script] of [
    ['npm', npm],
    ['pnpm', own],
  ] as const) {
    if (script === null) continue;
    // Both are packages that need nothing but themselves: `…/npm/bin/npm-cli.js`.
    const root = dirname(dirname(script));
    const manifest = join(root, 'package.json');
    tools.push({ name, command: [node, script], tells: (await isFile(manifest)) ? [manifest] : [] });
    const isVisible = mounts.some(({ source }) => script.startsWith(`${source}/`));
    if (!isVisible) mounts.push(...mountsOf(name, root));
  }
  return { mounts, tools };
}

async function searchBun(path: string): Promise<Found | null> {
  const bun = await realOnPath('bun', path);
  if (bun === null) return null;
  return { mounts: mountsOf('bun', dirname(bun)), tools: [{ name: 'bun', command: [bun] }] };
}

async function findNpm(node: string, path: string): Promise<string | null> {
  const beside = join(dirname(dirname(node)), 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js');
  if (await isFile(beside)) return realpath(beside);
  const onPath = await realOnPath('npm', path);
  // Version managers put a shim there; only npm's own entry file is npm.
  return onPath !== null && basename(onPath) === 'npm-cli.js' ? onPath : null;
}

async function searchCargo(path: string): Promise<Found | null> {
  const cargo = await realOnPath('cargo', path);
  if (cargo === null) return null;
  const real = basename(cargo) === 'rustup' ? await askedPath(cargo, ['which', 'cargo']) : cargo;
  const bin = dirname(real);
  // Clippy is a component that may be missing. It finds its driver beside itself.
  const clippy = (await isFile(join(bin, 'cargo-clippy'))) ? ['cargo-clippy'] : [];
  const names = ['cargo', 'rustc', 'rustdoc', ...clippy];
  const tools = names.map((name) => ({ name, command: [join(bin, name)] }));
  return { mounts: mountsOf('rust', dirname(bin)), tools };
}

async function searchGo(path: string): Promise<Found | null> {
  const go = await realOnPath('go', path);
  if (go === null) return null;
  const root = await askedPath(go, ['env', 'GOROOT']);
  return { mounts: mountsOf('go', root), tools: [{ name: 'go', command: [join(root, 'bin', 'go')] }] };
}

const PYTHON_FACTS = `
import os, sys, sysconfig
print(os.path.realpath(sys.executable))
print(sys.base_prefix)
print(os.path.join(sys.prefix, "bin", "pytest"))
print(sysconfig.get_config_var("Py_ENABLE_SHARED") or 0)
`;

async function searchPython(path: string): Promise<Found | null> {
  const shim = await findOnPath('python3', path);
  if (shim === null) return null;
  const { stdout } = await run(shim, ['-I', '-c', PYTHON_FACTS], { cwd: '/', timeout: 10_000 });
  const [python = '', prefix = '', script = '', shared = ''] = stdout.split('\n');
  const mounts = mountsOf('python', prefix);
  // A shared libpython is looked for where it was built, which does not exist inside; another one would be found instead.
  const [mount] = mounts;
  const via = mount === undefined || shared === '0' ? [] : ['/usr/bin/env', `LD_LIBRARY_PATH=${mount.target}/lib`];
  const tools: FoundTool[] = [{ name: 'python3', command: [python], via }];
  const pytest = (await isFile(script)) ? script : await realOnPath('pytest', path);
  const visible =
    pytest?.startsWith('/usr/') === true || (mount !== undefined && pytest?.startsWith(`${prefix}/`) === true);
  if (pytest !== null && visible && (await isPythonScript(pytest))) {
    tools.push({ name: 'pytest', command: [python, pytest], via });
  }
  return { mounts, tools };
}

async function searchMake(path: string): Promise<Found | null> {
  const make = await realOnPath('make', path);
  if (make?.startsWith('/usr/') !== true) return null;
  return { mounts: [], tools: [{ name: 'make', command: [make] }] };
}

/** The system's own directories are in every sandbox as they are; anything else is bound at a neutral place. */
function mountsOf(name: string, root: string): ToolchainMount[] {
  return root === '/usr' || root.startsWith('/usr/') ? [] : [{ source: root, target: `${TOOLCHAIN_ROOT}/${name}` }];
}

/** What a tool answers when asked for a path. Asked in `/`, where no project file can choose another version. */
async function askedPath(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(program, [...args], { cwd: '/', timeout: 10_000 });
  return realpath(stdout.trim());
}

async function realOnPath(name: string, path: string): Promise<string | null> {
  const found = await findOnPath(name, path);
  return found === null ? null : realpath(found);
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return await isFile(file);
  } catch {
    return false;
  }
}

async function isFile(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

async function isPythonScript(file: string): Promise<boolean> {
  return /^#!.*python/.test((await readFile(file, 'utf8')).slice(0, 256));
}
