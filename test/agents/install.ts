/** The CLIs that are tried: packages of the npm registry, each at one version, installed into a directory of its own. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { AgentPreset } from '../../local/coder/runtime/presets.ts';

export interface TriedCli {
  readonly name: string;
  readonly version: string;
  /** The model to ask for, where the CLI has no choice of its own: the fake host has any. */
  readonly model: string | null;
  /** Whether the package's own install scripts have to run. */
  readonly scripts: boolean;
}

export const TRIED_CLIS: Readonly<Record<AgentPreset, TriedCli>> = {
  claude: { name: '@anthropic-ai/claude-code', version: '2.1.332', model: null, scripts: true },
  codex: { name: '@openai/codex', version: '0.171.0', model: null, scripts: false },
  pi: { name: '@earendil-works/pi-coding-agent', version: '1.6.0', model: 'fake-model', scripts: false },
};

const INSTALL_MS = 300_000;

/** @returns the directory of the installation, for the setting `coder.agent-dir` */
export async function installCli(directory: string, { name, version, scripts }: TriedCli): Promise<string> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'package.json'), '{ "private": true }\n');
  const args = ['install', '--no-fund', '--no-audit', '--save-exact', ...(scripts ? [] : ['--ignore-scripts'])];
  await promisify(execFile)('npm', [...args, `${name}@${version}`], { cwd: directory, timeout: INSTALL_MS });
  return directory;
}
