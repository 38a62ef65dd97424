/**
 * How git in a workspace reaches the gateway: a configuration file outside the checkout, readable by the workspace's user
 * only. The remote's URL names neither a port nor a credential, so nothing of either lands in the checkout or in an argv.
 */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WORKSPACE_PATHS } from '../../schemas/workspace-api.ts';
import type { AgentGrant } from './grant.ts';

/** Stands for the forwarder in remotes: its port is another after each start. */
const GATEWAY = 'portcullis://gateway/';

export function gitSettingsFile(privateDirectory: string): string {
  return join(privateDirectory, 'gitconfig');
}

/** What a checkout calls its origin. */
export function remoteUrl({ tenant, pair }: AgentGrant): string {
  return `${GATEWAY}${WORKSPACE_PATHS.repository(tenant, pair).slice(1)}`;
}

/** `gateway`: `host:port` of the forwarder. */
export async function writeGitSettings(privateDirectory: string, grant: AgentGrant, gateway: string): Promise<string> {
  const file = gitSettingsFile(privateDirectory);
  const name = grant.role.toUpperCase();
  const text = [
    `[url "http://${gateway}/"]`,
    `\tinsteadOf = ${GATEWAY}`,
    `[http "http://${gateway}/"]`,
    `\textraHeader = Authorization: Bearer ${grant.bearer}`,
    '\tfollowRedirects = false',
    '[user]',
    `\tname = ${name}`,
    `\temail = ${grant.role}@workspace.invalid`,
    '[push]',
    '\tdefault = current',
    '[init]',
    '\tdefaultBranch = main',
    '[advice]',
    '\tdetachedHead = false',
    '[gc]',
    '\tauto = 0',
    '',
  ].join('\n');
  // Replaced as a whole: an agent may be in the middle of a fetch.
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return file;
}

/** The environment of everything in a workspace that runs git: nothing of the system's configuration, no prompt. */
export function gitEnvironment(privateDirectory: string): Readonly<Record<string, string>> {
  return {
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: gitSettingsFile(privateDirectory),
    GIT_TERMINAL_PROMPT: '0',
  };
}
