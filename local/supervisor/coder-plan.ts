/** The local Coder as a part, and how the control worker finds it or the operator's. */
import { join } from 'node:path';
import type { SettingKey } from '../../schemas/settings.ts';
import { modulePath } from '../package-root.ts';
import { LOOPBACK } from '../ports.ts';
import type { Ports } from '../state.ts';
import { asEnvironment, baseEnvironment, passedOn } from './environment.ts';
import type { StackOptions } from './options.ts';
import type { PartPlan } from './part.ts';
import { awaitReadyz } from './readyz.ts';

const DEADLINE_MS = 60_000;

/** Its workspaces are processes that it starts, so it needs the same variables as the executors in them. */
export function coderPlan(options: StackOptions, ports: Ports): PartPlan {
  const { paths, logLevel } = options;
  const url = localCoderUrl(ports);
  return {
    name: 'coder',
    address: url,
    log: paths.log('coder'),
    command: () => ({
      program: process.execPath,
      args: [modulePath('cli/main'), 'serve', 'coder'],
      env: {
        ...baseEnvironment(options),
        ...asEnvironment({
          'state.dir': paths.root,
          'keys.dir': paths.keys,
          'gateway.socket': paths.gatewaySocket,
          'log.level': logLevel,
          'coder.port': String(ports.coder),
        }),
        ...passedOn(options, [
          'coder.agent',
          'coder.agent-dir',
          'coder.agent-model',
          'coder.agent-file',
          'coder.provisioners',
          'coder.hung-secs',
          'coder.workspace-memory-mb',
          'coder.workspace-processes',
          'coder.workspace-disk-mb',
        ]),
        NODE_COMPILE_CACHE: join(paths.cache, 'compiled'),
      },
    }),
    ready: (abandoned) => awaitReadyz(`${url}/healthz`, DEADLINE_MS, abandoned),
    // Its workspaces end with it, one after the other where they do not want to.
    graceMs: 15_000,
  };
}

export function localCoderUrl(ports: Pick<Ports, 'coder'>): string {
  return `http://${LOOPBACK}:${ports.coder}`;
}

/** How the control worker finds Coder: the local one, whose tokens are key files and whose compute can be swept, or the operator's. */
export function coderSettings({ coder }: StackOptions, ports: Ports): Partial<Record<SettingKey, string>> {
  if (coder === null) {
    const url = localCoderUrl(ports);
    return { 'coder.url': url, 'coder.sweep-url': `${url}/local/v1/compute` };
  }
  return {
    'coder.url': coder.url,
    'coder.organization': coder.organization,
    'coder.owner': coder.owner,
    ...(coder.token === null ? {} : { 'coder.token': coder.token }),
    ...(coder.chatToken === null ? {} : { 'coder.chat-token': coder.chatToken }),
    ...(coder.breakGlassToken === null ? {} : { 'coder.break-glass-token': coder.breakGlassToken }),
  };
}
