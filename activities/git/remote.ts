/**
 * The remotes that the control plane talks to: those that the installation's settings allow, over https, ssh or as a bare
 * repository on this machine, and no other transport whatever a name looks like.
 */
import { realpathSync } from 'node:fs';
import { normalize } from 'node:path';
import { portcullisError } from '../../schemas/errors.ts';
import { branchRef, checkedCommit } from '../../schemas/git/refs.ts';
import { runGit, type GitEnd } from './run.ts';
import { shortened } from '../../schemas/text.ts';

export interface GitRemotes {
  /** Each a whole URL or path, or, where it ends in `/`, everything below. */
  readonly allowed: readonly string[];
  /** File in the format of git's `credential-store`, for https; `null`: no credential. */
  readonly credentialsFile: string | null;
  /** ssh's configuration with identity and known hosts; `null`: ssh is not used. */
  readonly sshConfigFile: string | null;
}

export interface Remote {
  readonly url: string;
  readonly protocol: 'https' | 'ssh' | 'file';
  readonly settings: GitRemotes;
}

const READ_MS = 60_000;
/** Longer than a fetch: the first one brings the whole history. */
const TRANSFER_MS = 10 * 60_000;
/** Sending a candidate, whose history is there already; the lease is renewed meanwhile. */
export const SEND_MS = 60_000;

const WEB = /^(https|ssh):\/\/(?:([A-Za-z0-9._-]+)@)?[A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?(\/[A-Za-z0-9._~/-]+)$/;

/** @throws `remote_refused` for what is not allowed or not one of the three kinds */
export function checkedRemote(settings: GitRemotes, name: string): Remote {
  const remote = name.startsWith('/') || name.startsWith('file:///') ? localRemote(name) : webRemote(name);
  if (!settings.allowed.some((entry) => allows(entry, remote.url))) throw refused('it is not among `git.remotes`');
  if (remote.protocol === 'ssh' && settings.sshConfigFile === null) throw refused('ssh is not set up here');
  return { ...remote, settings };
}

function webRemote(name: string): Omit<Remote, 'settings'> {
  const [, protocol, user, path] = WEB.exec(name) ?? [];
  if ((protocol !== 'https' && protocol !== 'ssh') || path === undefined) {
    throw refused('it is neither https, ssh nor a path of this machine');
  }
  if (protocol === 'https' && user !== undefined) throw refused('a credential does not belong into a URL');
  if (path.split('/').some((part, n) => n > 0 && (part === '' || part === '.' || part === '..'))) {
    throw refused('its path has empty or dotted parts');
  }
  return { url: name, protocol };
}

/** By its real path: a link may lead out of what is allowed. */
function localRemote(name: string): Omit<Remote, 'settings'> {
  const path = name.startsWith('file://') ? name.slice('file://'.length) : name;
  if (/[\0\r\n]/.test(path) || normalize(path) !== path) throw refused('its path is not written plainly');
  try {
    return { url: realpathSync(path), protocol: 'file' };
  } catch {
    throw refused('there is no such directory');
  }
}

function allows(entry: string, url: string): boolean {
  const plain = entry.startsWith('file://') ? entry.slice('file://'.length) : entry;
  const known = plain.startsWith('/') ? realOf(plain) : plain;
  return known.endsWith('/') ? url.startsWith(known) : url === known;
}

function realOf(path: string): string {
  try {
    return `${realpathSync(path)}${path.endsWith('/') ? '/' : ''}`;
  } catch {
    return path;
  }
}

/** The commit that the remote's branch is at; `null` when it has none. @throws `remote_unavailable` */
export async function readRemote(gitDir: string, remote: Remote, branch: string): Promise<string | null> {
  const ref = branchRef(branch);
  const args = ['ls-remote', '--quiet', UPLOAD_PACK, '--', remote.url, ref];
  const ended = await runRemote(gitDir, remote, args, READ_MS);
  if (ended.code !== 0) throw unavailable(ended);
  for (const line of ended.stdout.toString('utf8').split('\n')) {
    const [commit, name] = line.split('\t');
    // A pattern matches the ends of names, so another ref may be listed too.
    if (name === ref && commit !== undefined) return checkedCommit(commit);
  }
  return null;
}

/** Brings the remote's branch into a ref of our own, each object checked. @throws `remote_unavailable` */
export async function fetchRemote(gitDir: string, remote: Remote, branch: string, into: string): Promise<void> {
  const options = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-maintenance'];
  const args = ['fetch', ...options, UPLOAD_PACK, '--refmap=', '--', remote.url, `+${branchRef(branch)}:${into}`];
  const ended = await runRemote(gitDir, remote, args, TRANSFER_MS);
  if (ended.code !== 0) throw unavailable(ended);
}

/**
 * What came of asking: `refused` when it said no itself, `unknown` when its answer is missing, or when git did not even ask since
 * the branch is elsewhere.
 */
export interface MoveAnswer {
  readonly said: 'moved' | 'refused' | 'unknown';
  readonly complaint: string;
}

/**
 * Asks the remote to move its branch from exactly one commit (`null`: it is not there) to another. Whether it did is read back
 * by whoever asks, since an answer can get lost on its way.
 */
export async function pushRemote(
  gitDir: string,
  remote: Remote,
  branch: string,
  { from, to }: { readonly from: string | null; readonly to: string },
): Promise<MoveAnswer> {
  const ref = branchRef(branch);
  const options = [
    '--porcelain',
    '--no-progress',
    '--no-verify',
    '--no-follow-tags',
    '--no-signed',
    '--recurse-submodules=no',
    RECEIVE_PACK,
  ];
  const lease = `--force-with-lease=${ref}:${from ?? ''}`;
  const args = ['push', ...options, lease, '--', remote.url, `${checkedCommit(to)}:${ref}`];
  const { code, stdout, complaint } = await runRemote(gitDir, remote, args, SEND_MS);
  // A failure to report, which git lists too, is no refusal; nor is what git itself holds back from a branch that has moved.
  const said = /^!\t[^\t]*\t(\[.*)$/m.exec(stdout.toString('utf8'))?.[1] ?? complaint;
  if (said.startsWith('[remote rejected]')) return { said: 'refused', complaint: shortened(said, 200) };
  return code === 0 ? { said: 'moved', complaint: '' } : { said: 'unknown', complaint: shortened(said, 200) };
}

/** On this machine the other side runs as us: without the hooks of that directory. Other machines know only these names. */
const NO_HOOKS = 'git -c core.hooksPath=/dev/null';
const UPLOAD_PACK = '--upload-pack=git-upload-pack';
const RECEIVE_PACK = '--receive-pack=git-receive-pack';

async function runRemote(gitDir: string, remote: Remote, args: readonly string[], timeoutMs: number): Promise<GitEnd> {
  const { protocol, settings } = remote;
  const local = (arg: string) =>
    arg === UPLOAD_PACK || arg === RECEIVE_PACK ? arg.replace('=git-', `=${NO_HOOKS} `) : arg;
  return await runGit({
    gitDir,
    args: [...transportSettings(settings), ...(protocol === 'file' ? args.map(local) : args)],
    timeoutMs,
    environment: {
      // Overrules every `protocol.*.allow`: a name that reads as another transport starts none.
      GIT_ALLOW_PROTOCOL: protocol,
      ...(settings.sshConfigFile === null
        ? {}
        : {
            GIT_SSH_COMMAND: `ssh -F ${quoted(settings.sshConfigFile)} -o BatchMode=yes -o StrictHostKeyChecking=yes`,
          }),
    },
  });
}

function transportSettings({ credentialsFile }: GitRemotes): readonly string[] {
  const helper = credentialsFile === null ? [] : [`credential.helper=store --file=${quoted(credentialsFile)}`];
  return [
    'credential.helper=',
    ...helper,
    'http.followRedirects=false',
    'http.lowSpeedLimit=1000',
    'http.lowSpeedTime=30',
    'fetch.fsckObjects=true',
    'fetch.recurseSubmodules=false',
    'push.recurseSubmodules=no',
  ].flatMap((setting) => ['-c', setting]);
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}

function refused(reason: string) {
  return portcullisError('remote_refused', { reason });
}

function unavailable({ complaint }: GitEnd) {
  return portcullisError('remote_unavailable', { reason: complaint || 'it was too slow' });
}
