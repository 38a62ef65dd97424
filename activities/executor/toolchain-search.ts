/** Finds the toolchains of this machine behind its PATH: the real ones, past shims that would choose a version by themselves. */
import { execFile } from 'node:child_process';
import { access, constants, readFile, realpath, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { insidePath, TOOLCHAIN_ROOT, type Tool, type ToolchainMount, type Toolchains } from './toolchains.ts';

const run = promisify(execFile);

/** What one search found: where it lives and what it offers. */
interface Found {
  readonly mount: ToolchainMount | null;
  readonly tools: readonly FoundTool[];
}

interface FoundTool {
  readonly name: string;
  /** With paths of this machine. */
  readonly command: readonly string[];
  /** Words before the command, as a sandbox sees them. */
  readonly via?: readonly string[];
}

/** Tools that are not here are left out; a command that needs one is answered with `failed_to_start`. */
export async function searchToolchains(path: string = process.env['PATH'] ?? ''): Promise<Toolchains> {
  const searches = [searchNode, searchBun, searchCargo, searchGo, searchPython, searchMake];
  const found = await Promise.all(searches.map((search) => search(path).catch(() => null)));
  const mounts = found.flatMap((one) => (one?.mount == null ? [] : [one.mount]));
  return {
    mounts,
    tools: found
      .flatMap((one) => one?.tools ?? [])
      .map(({ name, command, via = [] }): Tool => {
        return { name, command: [...via, ...command.map((file) => insidePath(mounts, file))], files: command };
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
  const mount = mountOf('node', dirname(dirname(node)));
  const tools = [{ name: 'node', command: [node] }];
  // Both are scripts: they must be visible inside, so beside this node or under /usr.
  const isVisible = (script: string) =>
    script.startsWith('/usr/') || mount === null || script.startsWith(`${mount.source}/`);
  const npm = await findNpm(node, path);
  if (npm !== null && isVisible(npm)) tools.push({ name: 'npm', command: [node, npm] });
  const pnpm = await realOnPath('pnpm', path);
  // Version managers put a shim there, which would fetch a version; only pnpm's own entry file is pnpm.
  if (pnpm !== null && /^pnpm\.[cm]js$/.test(basename(pnpm)) && isVisible(pnpm)) {
    tools.push({ name: 'pnpm', command: [node, pnpm] });
  }
  return { mount, tools };
}

async function searchBun(path: string): Promise<Found | null> {
  const bun = await realOnPath('bun', path);
  if (bun === null) return null;
  return { mount: mountOf('bun', dirname(bun)), tools: [{ name: 'bun', command: [bun] }] };
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
  return { mount: mountOf('rust', dirname(bin)), tools };
}

async function searchGo(path: string): Promise<Found | null> {
  const go = await realOnPath('go', path);
  if (go === null) return null;
  const root = await askedPath(go, ['env', 'GOROOT']);
  return { mount: mountOf('go', root), tools: [{ name: 'go', command: [join(root, 'bin', 'go')] }] };
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
  const mount = mountOf('python', prefix);
  // A shared libpython is looked for where it was built, which does not exist inside; another one would be found instead.
  const via = mount === null || shared === '0' ? [] : ['/usr/bin/env', `LD_LIBRARY_PATH=${mount.target}/lib`];
  const tools: FoundTool[] = [{ name: 'python3', command: [python], via }];
  const pytest = (await isFile(script)) ? script : await realOnPath('pytest', path);
  const visible = pytest?.startsWith('/usr/') === true || (mount !== null && pytest?.startsWith(`${prefix}/`) === true);
  if (pytest !== null && visible && (await isPythonScript(pytest))) {
    tools.push({ name: 'pytest', command: [python, pytest], via });
  }
  return { mount, tools };
}

async function searchMake(path: string): Promise<Found | null> {
  const make = await realOnPath('make', path);
  if (make?.startsWith('/usr/') !== true) return null;
  return { mount: null, tools: [{ name: 'make', command: [make] }] };
}

/** The system's own directories are in every sandbox as they are; anything else is bound at a neutral place. */
function mountOf(name: string, root: string): ToolchainMount | null {
  return root === '/usr' || root.startsWith('/usr/') ? null : { source: root, target: `${TOOLCHAIN_ROOT}/${name}` };
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
