/**
 * What a push asks for, read before git sees any of it (the command list of `git-receive-pack`, in pkt-lines), and whether it
 * may. One command, one branch: everything else is refused whole.
 * https://git-scm.com/docs/pack-protocol#_reference_update_request_and_packfile_transfer
 */
import { portcullisError } from '../../schemas/errors.ts';

export interface PushCommand {
  /** `null`: the ref is not there yet. */
  readonly from: string | null;
  /** `null`: the ref is to be deleted. */
  readonly to: string | null;
  readonly ref: string;
}

export interface PushCommands {
  readonly commands: readonly PushCommand[];
  readonly capabilities: ReadonlySet<string>;
}

/** One command takes some two hundred bytes; whoever sends a list of refs is not let through it. */
export const MAX_COMMAND_BYTES = 16 * 1024;
const FLUSH = '0000';
const COMMAND = /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) ([^\0\n ]+)$/;
const SHALLOW = /^shallow (?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * The commands at the beginning of a body; `null` while more of it has to come.
 * @throws `schema_invalid` for what is no list of commands, `body_too_large` for a long one
 */
export function readPushCommands(body: Buffer): PushCommands | null {
  const commands: PushCommand[] = [];
  let capabilities: ReadonlySet<string> = new Set();
  for (let at = 0; ;) {
    const length = body.toString('latin1', at, at + 4);
    if (length.length < 4) return shortOf(body);
    if (length === FLUSH) return { commands, capabilities };
    if (!/^[0-9a-f]{4}$/.test(length)) throw invalid('is no pkt-line');
    const size = Number.parseInt(length, 16);
    if (size <= 4) throw invalid('has an empty pkt-line');
    if (at + size > body.length) return shortOf(body);
    const line = body.toString('utf8', at + 4, at + size).replace(/\n$/, '');
    at += size;
    if (at > MAX_COMMAND_BYTES) throw portcullisError('body_too_large', { limit: MAX_COMMAND_BYTES });
    if (SHALLOW.test(line) && commands.length === 0) continue;
    const [text = '', said, ...rest] = line.split('\0');
    if (rest.length > 0) throw invalid('has a NUL within its capabilities');
    if (said !== undefined && commands.length > 0) throw invalid('says twice what it can do');
    if (said !== undefined) capabilities = new Set(said.split(' ').filter((word) => word !== ''));
    commands.push(readCommand(text));
  }
}

function readCommand(text: string): PushCommand {
  const [, from, to, ref] = COMMAND.exec(text) ?? [];
  // A signed push comes as a certificate, which nobody here reads.
  if (from === undefined || to === undefined || ref === undefined) throw invalid('is no command of a push');
  return { from: unlessZero(from), to: unlessZero(to), ref };
}

function unlessZero(id: string): string | null {
  return /^0+$/.test(id) ? null : id;
}

function shortOf(body: Buffer): null {
  if (body.length > MAX_COMMAND_BYTES) throw portcullisError('body_too_large', { limit: MAX_COMMAND_BYTES });
  return null;
}

function invalid(reason: string) {
  return portcullisError('schema_invalid', { path: 'body', reason });
}

/** Why these commands are refused to somebody who may push this ref; `null` when they are not. */
export function refusalOf({ commands }: PushCommands, ref: string): string | null {
  const [only, ...more] = commands;
  if (only === undefined) return null;
  if (more.length > 0) return `one ref at a time: this credential pushes ${ref}`;
  if (only.ref !== ref) return `this credential pushes ${ref} and no other ref`;
  if (only.to === null) return 'branches are not deleted here';
  return null;
}

/** The refusal as git reads it after a push, so that whoever pushed sees the reason. */
export function refusalReport({ commands, capabilities }: PushCommands, reason: string): Buffer {
  if (!capabilities.has('report-status') && !capabilities.has('report-status-v2')) return Buffer.alloc(0);
  const lines = ['unpack ok\n', ...commands.map(({ ref }) => `ng ${ref} ${reason}\n`)];
  const report = `${lines.map(packet).join('')}${FLUSH}`;
  return Buffer.from(capabilities.has('side-band-64k') ? `${packet(`\x01${report}`)}${FLUSH}` : report);
}

function packet(text: string): string {
  return (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text;
}
