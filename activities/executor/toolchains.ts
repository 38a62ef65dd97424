/**
 * Toolchains: what a logical tool id (`cargo`) really is on this machine, and where a sandbox finds it. Paths inside are
 * neutral (`/opt/toolchains/…`): the code under test learns nothing of this machine's directories.
 */
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface ToolchainMount {
  /** Directory on this machine. */
  readonly source: string;
  /** Where a sandbox sees it, read-only. */
  readonly target: string;
}

export interface Tool {
  readonly name: string;
  /** What runs it, as a sandbox sees it: an absolute path, after its interpreter where it is a script. */
  readonly command: readonly string[];
  /** Files on this machine that make up the tool, for the toolchain's digest. */
  readonly files: readonly string[];
}

export interface Toolchains {
  readonly mounts: readonly ToolchainMount[];
  readonly tools: readonly Tool[];
}

export const TOOLCHAIN_ROOT = '/opt/toolchains';
/** First on PATH inside: every tool by its name. */
export const TOOL_DIRECTORY = `${TOOLCHAIN_ROOT}/bin`;

export function findTool(toolchains: Toolchains, name: string): Tool | null {
  return toolchains.tools.find((tool) => tool.name === name) ?? null;
}

/** The same toolchains for somebody who sees them only where a sandbox would: inside a workspace. */
export function relocated(toolchains: Toolchains): Toolchains {
  return {
    mounts: toolchains.mounts.map(({ target }) => ({ source: target, target })),
    tools: toolchains.tools.map((tool) => ({
      ...tool,
      files: tool.files.map((file) => insidePath(toolchains.mounts, file)),
    })),
  };
}

/** The path a sandbox has for a file of this machine. Files outside every mount are under `/usr`, which is the same. */
export function insidePath(mounts: readonly ToolchainMount[], file: string): string {
  const mount = mounts.find(({ source }) => file === source || file.startsWith(`${source}/`));
  return mount === undefined ? file : `${mount.target}${file.slice(mount.source.length)}`;
}

/** Fills a directory with one entry for each tool; bind it at {@link TOOL_DIRECTORY}. */
export async function writeToolDirectory(toolchains: Toolchains, directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true, mode: 0o755 });
  for (const { name, command } of toolchains.tools) {
    const [program, ...rest] = command;
    if (program === undefined) continue;
    const entry = join(directory, name);
    if (rest.length === 0) {
      await symlink(program, entry);
      continue;
    }
    // A script's first line names its interpreter by a path of this machine, which does not exist inside.
    await writeFile(entry, `#!/bin/sh\nexec ${command.map(quoted).join(' ')} "$@"\n`);
    await chmod(entry, 0o755);
  }
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
