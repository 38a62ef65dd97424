import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createToolchainDigests } from './toolchain-digest.ts';
import { searchToolchains } from './toolchain-search.ts';
import { findTool, relocated, writeToolDirectory, type Tool, type Toolchains } from './toolchains.ts';

let directory: string;
beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'portcullis-toolchains-')));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function program(path: string, text: string): Promise<void> {
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text);
  await chmod(path, 0o755);
}

describe('the search for toolchains', () => {
  it('finds the real one behind links, and shows it at a neutral place', async () => {
    await program(join(directory, 'versions/node-1/bin/node'), '#!/bin/sh\n');
    await mkdir(join(directory, 'bin'));
    await symlink('../versions/node-1/bin/node', join(directory, 'bin/node'));
    const found = await searchToolchains(join(directory, 'bin'));
    expect(found.mounts).toEqual([{ source: join(directory, 'versions/node-1'), target: '/opt/toolchains/node' }]);
    expect(findTool(found, 'node')).toEqual({
      name: 'node',
      command: ['/opt/toolchains/node/bin/node'],
      files: [join(directory, 'versions/node-1/bin/node')],
    });
    expect(findTool(found, 'cargo')).toBeNull();
  });

  it('asks rustup for the compiler that it would choose outside of every project', async () => {
    const toolchain = join(directory, 'rust/bin');
    for (const name of ['cargo', 'rustc', 'rustdoc']) await program(join(toolchain, name), '#!/bin/sh\n');
    await program(join(directory, 'home/rustup'), `#!/bin/sh\n[ "$(pwd)" = / ] && echo ${toolchain}/cargo\n`);
    await symlink('rustup', join(directory, 'home/cargo'));
    const found = await searchToolchains(join(directory, 'home'));
    expect(findTool(found, 'rustc')?.command).toEqual(['/opt/toolchains/rust/bin/rustc']);
  });

  it('skips relative entries of the PATH and shims that are not the tool', async () => {
    await program(join(directory, 'node-1/bin/node'), '#!/bin/sh\n');
    await program(join(directory, 'shims/npm'), '#!/bin/sh\n');
    const found = await searchToolchains(`./bin:${join(directory, 'node-1/bin')}:${join(directory, 'shims')}`);
    expect(found.tools.map(({ name }) => name)).toEqual(['node']);
  });
});

describe('a package manager that was installed anywhere', () => {
  it.each([
    ['npm', 'npm/bin/npm-cli.js'],
    ['pnpm', 'pnpm/bin/pnpm.cjs'],
  ])('is found by its own entry file and shown as a package of its own: %s', async (name, script) => {
    await program(join(directory, 'node-1/bin/node'), '#!/bin/sh\n');
    await program(join(directory, 'project/node_modules', script), '');
    await mkdir(join(directory, 'project/node_modules/.bin'));
    await symlink(`../${script}`, join(directory, 'project/node_modules/.bin', name));
    const path = `${join(directory, 'project/node_modules/.bin')}:${join(directory, 'node-1/bin')}`;
    const found = await searchToolchains(path);
    expect(findTool(found, name)?.command).toEqual(['/opt/toolchains/node/bin/node', `/opt/toolchains/${script}`]);
    expect(found.mounts).toContainEqual({
      source: join(directory, 'project/node_modules', name),
      target: `/opt/toolchains/${name}`,
    });
  });

  it('needs no place of its own beside its node', async () => {
    await program(join(directory, 'node-1/bin/node'), '#!/bin/sh\n');
    await program(join(directory, 'node-1/lib/node_modules/npm/bin/npm-cli.js'), '');
    const found = await searchToolchains(join(directory, 'node-1/bin'));
    expect(findTool(found, 'npm')?.command[1]).toBe('/opt/toolchains/node/lib/node_modules/npm/bin/npm-cli.js');
    expect(found.mounts).toHaveLength(1);
  });
});

describe('the directory of tools', () => {
  it('runs each by its name, scripts through their interpreter', async () => {
    const toolchains: Toolchains = {
      mounts: [],
      tools: [
        { name: 'plain', command: ['/bin/echo'], files: [] },
        { name: 'scripted', command: ['/bin/echo', "it's"], files: [] },
      ],
    };
    await writeToolDirectory(toolchains, join(directory, 'tools'));
    const run = promisify(execFile);
    expect((await run(join(directory, 'tools/plain'), ['a b'])).stdout).toBe('a b\n');
    expect((await run(join(directory, 'tools/scripted'), ['a b'])).stdout).toBe("it's a b\n");
  });

  it('is told the same of toolchains that a workspace sees at their neutral places', () => {
    const tool: Tool = {
      name: 'go',
      command: ['/opt/toolchains/go/bin/go'],
      files: ['/home/x/go/bin/go', '/usr/bin/env'],
    };
    const inside = relocated({ mounts: [{ source: '/home/x/go', target: '/opt/toolchains/go' }], tools: [tool] });
    expect(inside).toEqual({
      mounts: [{ source: '/opt/toolchains/go', target: '/opt/toolchains/go' }],
      tools: [{ ...tool, files: ['/opt/toolchains/go/bin/go', '/usr/bin/env'] }],
    });
  });
});

describe('the digest of a toolchain', () => {
  it('changes with a byte of its program, and not with where it lies', async () => {
    const digest = createToolchainDigests();
    const tool = (path: string): Tool => ({ name: 'x', command: [path], files: [path] });
    await program(join(directory, 'a'), 'one');
    await program(join(directory, 'b'), 'one');
    const before = await digest([tool(join(directory, 'a'))]);
    expect(await digest([tool(join(directory, 'b'))])).toBe(before);
    await program(join(directory, 'a'), 'two');
    expect(await digest([tool(join(directory, 'a'))])).not.toBe(before);
  });

  it('changes with the version of a package manager, whose entry file only loads the rest', async () => {
    await program(join(directory, 'bin/node'), '#!/bin/sh\n');
    const digestOf = async (name: string, version: string) => {
      const root = join(directory, `${name}-${version}`, name);
      const script = name === 'npm' ? 'npm-cli.js' : `${name}.cjs`;
      await program(join(root, 'bin', script), "require('../lib')");
      await writeFile(join(root, 'package.json'), JSON.stringify({ name, version }));
      await mkdir(join(root, '.bin'));
      await symlink(`../bin/${script}`, join(root, '.bin', name));
      const tool = findTool(await searchToolchains(`${join(root, '.bin')}:${join(directory, 'bin')}`), name);
      return createToolchainDigests()(tool === null ? [] : [tool]);
    };
    for (const name of ['npm', 'pnpm']) expect(await digestOf(name, '1.0.0')).not.toBe(await digestOf(name, '1.0.1'));
  });
});
