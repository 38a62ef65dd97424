/** What `enter.py` is told: the root of one workspace, who lives in it, and what runs there. */
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readSystemLayout } from '../../activities/executor/sandbox.ts';
import type { Toolchains } from '../../activities/executor/toolchains.ts';
import { boundsHere, DEFAULT_WORKSPACE_BOUNDS, type WorkspaceBounds } from './bounds.ts';
import { readOnly, type Bind, type WorkspaceProgram } from './program.ts';

/** Where a workspace sees its own directory, the gateway's socket, and a policy that does not come with the program. */
export const WORKSPACE_DIRECTORY = '/workspace';
export const GATEWAY_DIRECTORY = '/run/gateway';
export const POLICY_DIRECTORY = '/opt/policies';

export interface WorkspaceSpecification {
  /** Empty directory of this machine that the root is mounted on. */
  readonly root: string;
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly links: readonly { readonly path: string; readonly target: string }[];
  readonly binds: readonly Bind[];
  readonly files: Readonly<Record<string, string>>;
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly bounds: WorkspaceBounds;
  /** It lives on when whoever started it is gone; `SIGTERM` to its first process ends it. */
  readonly outlives?: true;
  /** File of this machine that is told its pids before anything else happens; it must not be there yet. */
  readonly record?: string;
  /** Where the program's descriptor 3 listens on this machine: a socket without a name inside. */
  readonly channel?: string;
}

export interface SpecificationInput {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** The workspace's directory and, in it, an empty one for the root. */
  readonly directory: string;
  readonly root: string;
  readonly gatewaySocket: string;
  readonly policyDirectory?: string;
  readonly toolchains: Toolchains;
  readonly program: WorkspaceProgram;
  /** As the workspace sees it. */
  readonly settingsFile: string;
  /** {@link DEFAULT_WORKSPACE_BOUNDS} unless given. */
  readonly bounds?: WorkspaceBounds;
}

/** Of /etc only what loads libraries and checks certificates; users, hosts and names are the workspace's own. */
const SYSTEM_ETC = [
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/alternatives',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/localtime',
] as const;

export async function specifyWorkspace(input: SpecificationInput): Promise<WorkspaceSpecification> {
  const { name, uid, gid, directory, root, gatewaySocket, toolchains, program, settingsFile } = input;
  const system = await readSystemLayout();
  const etc = await present(SYSTEM_ETC);
  return {
    root,
    name,
    uid,
    gid,
    links: system.links,
    binds: [
      ...['/usr', ...system.directories, ...etc].map((path) => readOnly(path, path)),
      ...toolchains.mounts.map(({ source, target }) => readOnly(source, target)),
      ...program.binds,
      readOnly(dirname(gatewaySocket), GATEWAY_DIRECTORY),
      ...(input.policyDirectory === undefined ? [] : [readOnly(input.policyDirectory, POLICY_DIRECTORY)]),
      { source: directory, target: WORKSPACE_DIRECTORY, writable: true },
    ],
    files: {
      '/etc/passwd': `workspace:x:${uid}:${gid}:workspace:${WORKSPACE_DIRECTORY}:/bin/sh\n`,
      '/etc/group': `workspace:x:${gid}:\n`,
      '/etc/hosts': `127.0.0.1 localhost ${name}\n::1 localhost\n`,
      '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
    },
    argv: [...program.argv, settingsFile],
    environment: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: WORKSPACE_DIRECTORY,
      TMPDIR: '/tmp',
      LANG: 'C.UTF-8',
    },
    bounds: boundsHere(input.bounds ?? DEFAULT_WORKSPACE_BOUNDS),
  };
}

async function present(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    paths.map((path) =>
      access(path).then(
        () => [path],
        () => [],
      ),
    ),
  );
  return found.flat();
}
