/**
 * Commands to start from: CLIs that read a prompt, work in the directory they are started in, and print their answer. Each is
 * pointed at the way to the role's model, with a token of the turn where it wants a key.
 */
import { portcullisError } from '../../../schemas/errors.ts';
import { AGENT_DIRECTORY } from '../../../workers/agent/turn.ts';
import { readOnly } from '../../workspace/program.ts';
import type { AgentCommand } from './settings.ts';

export const AGENT_PRESETS = ['codex', 'claude', 'pi'] as const;
export type AgentPreset = (typeof AGENT_PRESETS)[number];

export interface PresetChoices {
  /** Directory of this machine with the CLI's installation; `null`: it is installed below `/usr`. */
  readonly directory: string | null;
  /** The model that the CLI is to ask for; `null`: its own choice. */
  readonly model: string | null;
}

const HOUR_SECS = 3_600;

/** @throws `setting_invalid` for `pi` without a model: it has no choice of its own at a host that it does not know */
export function agentPreset(name: AgentPreset, { directory, model }: PresetChoices): AgentCommand {
  return {
    ...commandOf(name, model),
    mounts: directory === null ? [] : [readOnly(directory, AGENT_DIRECTORY)],
    timeoutSecs: HOUR_SECS,
  };
}

type Commands = Pick<AgentCommand, 'argv' | 'resume' | 'environment'>;

function commandOf(name: AgentPreset, model: string | null): Commands {
  switch (name) {
    case 'codex':
      return codex(model);
    case 'claude':
      return claude(model);
    case 'pi':
      if (model === null)
        throw portcullisError('setting_invalid', { name: 'coder.agent-model', reason: 'pi needs it' });
      return pi(model);
  }
}

/** The workspace is the sandbox: one inside of it would only hide what is allowed anyway. */
function codex(model: string | null): Commands {
  const settings = [
    'model_provider="portcullis"',
    'model_providers.portcullis.name="portcullis"',
    'model_providers.portcullis.base_url="{model}/v1"',
    'model_providers.portcullis.env_key="PORTCULLIS_MODEL_TOKEN"',
    'model_providers.portcullis.wire_api="responses"',
    // What the host would do by itself is not passed.
    'web_search="disabled"',
    ...(model === null ? [] : [`model=${JSON.stringify(model)}`]),
  ].flatMap((setting) => ['-c', setting]);
  const flags = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', ...settings];
  return {
    argv: ['codex', 'exec', ...flags, '-'],
    resume: ['codex', 'exec', 'resume', ...flags, '--last', '-'],
    environment: { PORTCULLIS_MODEL_TOKEN: '{token}' },
  };
}

function claude(model: string | null): Commands {
  const flags = ['--print', '--dangerously-skip-permissions', '--disallowedTools=WebSearch,WebFetch'];
  const models = ['ANTHROPIC_MODEL', 'ANTHROPIC_DEFAULT_HAIKU_MODEL'];
  return {
    argv: ['claude', ...flags],
    resume: ['claude', ...flags, '--continue'],
    environment: {
      ANTHROPIC_BASE_URL: '{model}',
      ANTHROPIC_AUTH_TOKEN: '{token}',
      // Nothing but the model is there to be reached.
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      // It runs as the workspace's only user, whatever its number is.
      IS_SANDBOX: '1',
      ...(model === null ? {} : Object.fromEntries(models.map((name) => [name, model]))),
    },
  };
}

/** It reads where its model is from a file, and each turn's is another. */
const PI_START = `mkdir -p "$PI_CODING_AGENT_DIR"
printf '%s' "$PORTCULLIS_PI_MODELS" > "$PI_CODING_AGENT_DIR/models.json"
exec pi "$@"`;

function pi(model: string): Commands {
  const models = {
    providers: {
      portcullis: {
        baseUrl: '{model}',
        api: 'anthropic-messages',
        apiKey: '$PORTCULLIS_MODEL_TOKEN',
        models: [{ id: model }],
      },
    },
  };
  const flags = ['--print', '--provider', 'portcullis', '--model', model];
  return {
    argv: ['sh', '-c', PI_START, 'pi', ...flags, '--', '{prompt}'],
    resume: ['sh', '-c', PI_START, 'pi', ...flags, '--continue', '--', '{prompt}'],
    environment: {
      PI_CODING_AGENT_DIR: '/workspace/home/.pi/agent',
      PI_OFFLINE: '1',
      PI_TELEMETRY: '0',
      PORTCULLIS_MODEL_TOKEN: '{token}',
      PORTCULLIS_PI_MODELS: JSON.stringify(models),
    },
  };
}
