/** `portcullis serve PART`: runs one server part in this process; the supervisor and containers start it so. */
import { Command } from 'commander';
import { action, exampleHelp, settingOption, type CommandWork } from '../program.ts';
import type { SettingKey } from '../../schemas/settings.ts';

const WORKER_SETTINGS = ['keys.dir', 'health.host', 'health.port'] as const satisfies readonly SettingKey[];
const GATEWAY_SETTINGS = [
  'keys.dir',
  'gateway.host',
  'gateway.port',
  'gateway.socket',
] as const satisfies readonly SettingKey[];

const EGRESS_SETTINGS = ['keys.dir', 'egress.host', 'egress.port'] as const satisfies readonly SettingKey[];

const CODER_SETTINGS = [
  'keys.dir',
  'coder.port',
  'coder.agent',
  'gateway.socket',
] as const satisfies readonly SettingKey[];

export function serveCommand(): Command {
  const serve = new Command('serve').description('run one server part in this process');
  const part = (name: string, text: string, settings: readonly SettingKey[], work: CommandWork) => {
    const command = new Command(name).description(text);
    for (const key of settings) command.addOption(settingOption(key));
    exampleHelp(command, `portcullis serve ${name} --keys-dir /run/secrets/portcullis`);
    serve.addCommand(action(command, work));
  };
  part(
    'control',
    'the control worker: workflows and the activities of the trusted plane',
    WORKER_SETTINGS,
    async (context) => {
      const { serveControl } = await import('../serve/workers.ts');
      return serveControl(context);
    },
  );
  part('gate', 'the gate worker: the only process that can write decisions', WORKER_SETTINGS, async (context) => {
    const { serveGate } = await import('../serve/workers.ts');
    return serveGate(context);
  });
  part('gateway', 'the gateway: the only way in for agents and people', GATEWAY_SETTINGS, async (context) => {
    const { serveGateway } = await import('../serve/gateway.ts');
    return serveGateway(context);
  });
  part(
    'egress',
    'the egress: the only way from a workspace to package registries and to models',
    EGRESS_SETTINGS,
    async (context) => {
      const { serveEgress } = await import('../serve/egress.ts');
      return serveEgress(context);
    },
  );
  part('coder', 'the local Coder: workspaces that are processes of this machine', CODER_SETTINGS, async (context) => {
    const { serveCoder } = await import('../serve/coder-server.ts');
    return serveCoder(context);
  });
  const executor = new Command('executor')
    .description('an executor, inside a workspace')
    .argument('<settings>', 'JSON file: tenant, gateway socket, private directory, claim code file');
  exampleHelp(executor, 'portcullis serve executor /run/portcullis/executor.json');
  serve.addCommand(
    action(executor, async ({ signal }, { args }) => {
      const { serveExecutor } = await import('../serve/executor.ts');
      return serveExecutor(args[0] ?? '', signal);
    }),
  );
  const agent = new Command('agent')
    .description(
      "an agent's harness, inside a workspace: claim, git, checkout, commands, and the executor where there is one",
    )
    .argument(
      '<settings>',
      'JSON file: tenant, role, gateway socket, directories, claim code file, checkout, executor',
    );
  exampleHelp(agent, 'portcullis serve agent /run/portcullis/agent.json');
  serve.addCommand(
    action(agent, async ({ signal }, { args }) => {
      const { serveAgent } = await import('../serve/agent.ts');
      return serveAgent(args[0] ?? '', signal);
    }),
  );
  return serve;
}
