/** `serve coder`: the local Coder, whose workspaces are processes of this machine. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { serviceUsers } from '../../local/coder/identities.ts';
import { startLocalCoder } from '../../local/coder/main.ts';
import { roleTemplates } from '../../local/coder/role-templates.ts';
import { openProcessRuntime } from '../../local/coder/runtime/process-runtime.ts';
import { AGENT_PRESETS, type AgentChoice } from '../../local/coder/runtime/settings.ts';
import { readCoderTokens } from '../../local/coder/tokens.ts';
import { logLevel } from '../../local/supervisor/options.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { createLogger } from '../../workers/logging.ts';
import { neededSetting, type CliContext } from '../context.ts';
import { runPart } from './part.ts';

/** Beside the resource, Terraform takes next to nothing here; long enough that states between can be seen. */
const TERRAFORM_MS = 40;
const CHECK_MS = 4;
const TICK_MS = 5_000;

export async function serveCoder(context: CliContext): Promise<number> {
  const { settings, signal, paths } = context;
  const logger = createLogger({ part: 'coder', level: logLevel(settings) });
  const tokens = readCoderTokens(neededSetting(context, 'keys.dir'));
  mkdirSync(paths.coder, { recursive: true, mode: 0o700 });
  const agent = agentChoice(settings.text('coder.agent'));
  const runtime = await openProcessRuntime({
    directory: paths.compute,
    gatewaySocket: neededSetting(context, 'gateway.socket'),
    logFile: join(paths.logs, 'workspaces.log'),
    agents: { forge: agent, sentinel: agent, lore: agent },
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
function agentChoice(name: string): AgentChoice {
  switch (name) {
    case 'scripted':
      return 'scripted';
    case 'codex':
    case 'claude':
    case 'pi':
      return AGENT_PRESETS[name];
    default:
      throw portcullisError('setting_invalid', {
        name: 'coder.agent',
        reason: 'must be scripted, codex, claude or pi',
      });
  }
}
