/**
 * Where everything runs that an agent can influence: its turns, and git in its checkout, whose hooks and configuration are its
 * own. It sees the workspace, but not what the executor keeps nor the cgroup that is delegated to it, and changes nothing of
 * what the harness starts again from.
 */
import { existsSync } from 'node:fs';
import { DELEGATED } from '../../activities/executor/cgroup.ts';
import type { HarnessSettings } from './settings.ts';

export interface Containment {
  readonly settings: Pick<HarnessSettings, 'privateDirectory' | 'executor'>;
  /** `bwrap` as the workspace sees it. */
  readonly sandbox: string;
}

/** Program and arguments that run a command in `directory`, in a process tree of its own that ends with it. */
export function contained(
  { settings, sandbox }: Containment,
  directory: string,
  argv: readonly string[],
): readonly [string, ...string[]] {
  const { privateDirectory, executor } = settings;
  const hidden = [
    ...(executor === null ? [] : [executor.privateDirectory]),
    ...(existsSync(DELEGATED) ? [DELEGATED] : []),
  ].flatMap((path) => ['--tmpfs', path]);
  return [
    sandbox,
    ...['--dev-bind', '/', '/', '--ro-bind', privateDirectory, privateDirectory, ...hidden],
    ...['--unshare-pid', '--proc', '/proc', '--die-with-parent'],
    // Gone to in there: here a link in its place would be followed to what is hidden.
    ...['--chdir', directory],
    '--',
    ...argv,
  ];
}
