/**
 * Small functions that run inside the store: each names every key it touches, and time is the server's.
 *
 * A script is checked command by command against the rules of whoever runs it, so it can do nothing its user could not
 * do without it. Redis rolls nothing back: each script therefore looks first, and writes only when nothing can fail any
 * more, beginning with the write that fewest users may make.
 */
import { portcullisError } from '../../../schemas/errors.ts';
import type { StoreConnection } from '../connect.ts';

export interface Script<K extends string, A extends string> {
  readonly keys: readonly K[];
  readonly args: readonly A[];
  readonly lua: string;
}

/** Inside `body`, keys are `key.<name>`, arguments `arg.<name>` (always text), and `clock()` is milliseconds. */
export function defineScript<const K extends string, const A extends string>(parts: {
  readonly keys: readonly K[];
  readonly args: readonly A[];
  /** Functions of other scripts that this one uses. */
  readonly uses?: readonly string[];
  readonly body: string;
}): Script<K, A> {
  const table = (name: string, names: readonly string[], source: string) =>
    `local ${name} = {${names.map((field, index) => `${field} = ${source}[${index + 1}]`).join(', ')}}`;
  const lua = [
    '#!lua',
    table('key', parts.keys, 'KEYS'),
    table('arg', parts.args, 'ARGV'),
    CLOCK,
    ...(parts.uses ?? []),
    parts.body,
  ];
  return { keys: parts.keys, args: parts.args, lua: lua.join('\n') };
}

export type ScriptValue = string | number | Uint8Array;

/** Runs the script; its reply as the words it returned. */
export async function runScript<K extends string, A extends string>(
  connection: StoreConnection,
  script: Script<K, A>,
  keys: Readonly<Record<K, string>>,
  args: Readonly<Record<A, ScriptValue>>,
): Promise<readonly string[]> {
  const keyList = script.keys.map((name) => keys[name]);
  const argList = script.args.map((name) => wire(args[name]));
  const reply = await connection.run((redis) => redis.eval(script.lua, keyList.length, ...keyList, ...argList));
  if (Array.isArray(reply)) return reply.map(String);
  return typeof reply === 'string' ? [reply] : [];
}

/** For the answer that a script cannot give. */
export function unexpectedReply(words: readonly string[]): never {
  throw portcullisError('internal', {}, new Error(`A script answered ${words.join(' ').slice(0, 200)}`));
}

function wire(value: ScriptValue): string | Buffer {
  return value instanceof Uint8Array ? Buffer.from(value) : String(value);
}

const CLOCK = `
local function clock()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end`;
