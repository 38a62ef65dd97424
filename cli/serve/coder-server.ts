/** `serve coder`: the local Coder, whose workspaces are processes of this machine. */
import { mkdirSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { serviceUsers } from '../../local/coder/identities.ts';
import { startLocalCoder } from '../../local/coder/main.ts';
import { roleTemplates } from '../../local/coder/role-templates.ts';
import { openProcessRuntime } from '../../local/coder/runtime/process-runtime.ts';
import { readAgentFile } from '../../local/coder/runtime/agent-file.ts';
import { AGENT_PRESETS, agentPreset } from '../../local/coder/runtime/presets.ts';
import type { AgentChoice } from '../../local/coder/runtime/settings.ts';
import { readCoderTokens } from '../../local/coder/tokens.ts';
import { logLevel } from '../../local/supervisor/options.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { Settings } from '../../schemas/settings.ts';
import { createLogger } from '../../workers/logging.ts';
import { neededSetting, type CliContext } from '../context.ts';
import { runPart } from './part.ts';

/** Beside the resource, Terraform takes next to nothing here; long enough that states between can be seen. */
const TERRAFORM_MS = 40;
const CHECK_MS = 4;
const TICK_MS = 5_000;
const MIB = 1024 ** 2;

export async function serveCoder(context: CliContext): Promise<number> {
  const { settings, signal, paths } = context;
  const logger = createLogger({ part: 'coder', level: logLevel(settings) });
  const tokens = readCoderTokens(neededSetting(context, 'keys.dir'));
  mkdirSync(paths.coder, { recursive: true, mode: 0o700 });
  const agent = await agentChoice(settings);
  const runtime = await openProcessRuntime({
    directory: paths.compute,
    gatewaySocket: neededSetting(context, 'gateway.socket'),
    logFile: join(paths.logs, 'workspaces.log'),
    agents: { forge: agent, sentinel: agent, lore: agent },
    bounds: {
      memoryBytes: settings.number('coder.workspace-memory-mb') * MIB,
      processes: settings.number('coder.workspace-processes'),
    },
    disk: { bytes: settings.number('coder.workspace-disk-mb') * MIB },
  });
  const hungMs = settings.number('coder.hung-secs') * 1000;
  const coder = await startLocalCoder({
    stateFile: join(paths.coder, 'coder.db'),
    runtime,
    port: settings.number('coder.port'),
    seed: {
      users: serviceUsers(tokens),
      templates: roleTemplates(),
      provider: { type: 'command', name: 'command', model: settings.text('coder.agent') },
    },
    provisioners: settings.number('coder.provisioners'),
    terraformMs: TERRAFORM_MS,
    checkMs: CHECK_MS,
    hungMs,
    tickMs: Math.min(TICK_MS, hungMs / 2),
  });
  logger.info({ url: coder.url }, 'serving');
  return runPart(coder, logger, signal);
}

/** What runs the turns of chats in a workspace. @throws `setting_invalid` */
async function agentChoice(settings: Settings): Promise<AgentChoice> {
  const file = settings.get('coder.agent-file');
  if (file !== null) return readAgentFile(file);
  const name = settings.text('coder.agent');
  if (name === 'scripted') return 'scripted';
  const preset = AGENT_PRESETS.find((one) => one === name);
  if (preset === undefined) {
    throw portcullisError('setting_invalid', {
      name: 'coder.agent',
      reason: 'must be scripted, codex, claude or pi',
    });
  }
  const directory = settings.get('coder.agent-dir');
  return agentPreset(preset, {
    directory: directory === null ? null : await realpath(directory).catch(() => unreadable(directory)),
    model: settings.get('coder.agent-model'),
  });
}

function unreadable(directory: string): never {
  throw portcullisError('setting_invalid', {
    name: 'coder.agent-dir',
    reason: `names ${directory}, which is not there`,
  });
}
