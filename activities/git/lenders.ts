/**
 * From which other object directories a repository borrows (`objects/info/alternates`: `clone --shared`, `--reference`),
 * found without git and shown to git by us. Whoever writes that file chooses the directories, so each has to hold nothing but
 * git objects and to belong to the owner of the borrowing repository (docs/decisions/0004-bundles.md).
 * https://git-scm.com/docs/gitrepository-layout#Documentation/gitrepository-layout.txt-objectsinfoalternates
 */
import { lstat, opendir, readFile, realpath, stat } from 'node:fs/promises';
import { join, normalize } from 'node:path';

export interface Lender {
  /** Real path of the object directory. */
  readonly path: string;
  /** Device and inode: what is mounted later has to be this one. */
  readonly identity: string;
  /** Whether it borrows in turn, so that its own file has to be hidden from git. */
  readonly borrows: boolean;
}

/** Why the borrowing cannot be followed, in words that name the directory. */
export class UnusableLender extends Error {}

/** git itself follows five levels. */
const MAX_DEPTH = 5;
const MAX_LENDERS = 64;
const MAX_FILE_BYTES = 64 * 1024;
/** 256 fan-out directories, two more, and what an interrupted git leaves behind. */
const MAX_ENTRIES = 1024;
const OBJECTS_ENTRY = /^(?:[0-9a-f]{2}|pack|info|(?:tmp|incoming|bulk-)[\w.-]+|maintenance\.lock)$/;

/**
 * Everything that this object directory borrows from, each once, in git's order.
 * @param owner user id of the borrowing repository
 * @throws `UnusableLender`
 */
export async function findLenders(objects: string, owner: number): Promise<readonly Lender[]> {
  const found = new Map<string, Lender>();
  const own = await identityOf(objects);
  await follow(await realpath(objects), 0);
  return [...found.values()];

  async function follow(borrower: string, depth: number): Promise<void> {
    const named = await readAlternates(borrower);
    if (named.length > 0 && depth >= MAX_DEPTH) throw unusable(borrower, `is the end of more than ${MAX_DEPTH} levels`);
    for (const name of named) {
      const path = normalize(name.startsWith('/') ? name : `${borrower}/${name}`);
      const lender = await lenderAt(path, owner);
      // A ring is no fault: git too takes each directory once.
      if (lender.identity === own || found.has(lender.identity)) continue;
      if (found.size === MAX_LENDERS) throw unusable(path, `is one more than ${MAX_LENDERS}`);
      found.set(lender.identity, lender);
      await follow(lender.path, depth + 1);
    }
  }
}

/** Device and inode of what is there, links followed. */
export async function identityOf(path: string): Promise<string> {
  const { dev, ino } = await stat(path, { bigint: true });
  return `${dev}:${ino}`;
}

async function lenderAt(named: string, owner: number): Promise<Lender> {
  const path = await realpath(named).catch(() => null);
  if (path === null) throw unusable(named, 'is not there');
  // One look for owner and identity: whoever swaps the directory afterwards is found out when it is mounted.
  const found = await lstat(path, { bigint: true });
  if (!found.isDirectory()) throw unusable(path, 'is no directory');
  if (found.uid !== BigInt(owner)) throw unusable(path, 'belongs to another user than the repository');
  await checkLayout(path);
  return { path, identity: `${found.dev}:${found.ino}`, borrows: (await readAlternates(path)).length > 0 };
}

/** Only what git keeps in an object directory, so that nothing else of this machine is ever shown. */
async function checkLayout(path: string): Promise<void> {
  let count = 0;
  let known = false;
  for await (const { name } of await opendir(path)) {
    count += 1;
    if (count > MAX_ENTRIES || !OBJECTS_ENTRY.test(name)) throw unusable(path, 'is no git object directory');
    known ||= name === 'pack' || name === 'info' || name.length === 2;
  }
  if (!known) throw unusable(path, 'is no git object directory');
}

/** The directories that it names, as written; none where the file is not there. */
async function readAlternates(objects: string): Promise<readonly string[]> {
  const file = join(objects, 'info', 'alternates');
  const info = await lstat(join(objects, 'info')).catch(() => null);
  if (info?.isSymbolicLink() === true) throw unusable(join(objects, 'info'), 'is a symbolic link');
  const kind = await lstat(file).catch(() => null);
  if (kind === null) return [];
  if (!kind.isFile() || kind.size > MAX_FILE_BYTES) throw unusable(file, 'is no list of directories');
  return decode(file, await readFile(file))
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => unquoted(file, line));
}

/** A line in quotes is in C's notation; one whose quotes do not end is taken as it stands, which is how git reads it. */
function unquoted(file: string, line: string): string {
  const inside = /^"((?:[^"\\]|\\(?:[abfnrtv"\\]|[0-3][0-7]{2}))*)"$/.exec(line)?.[1];
  if (inside === undefined) return line;
  const bytes = inside.split(/(\\(?:[0-3][0-7]{2}|.))/).map((part) => {
    if (!part.startsWith('\\')) return Buffer.from(part);
    const escape = part.slice(1);
    return escape.length === 3 ? Buffer.of(Number.parseInt(escape, 8)) : Buffer.from(ESCAPES[escape] ?? escape);
  });
  return decode(file, Buffer.concat(bytes));
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

function decode(file: string, bytes: Uint8Array): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Said below: a name that is no text cannot be shown to anybody.
  }
  throw unusable(file, 'is no list of directories');
}

function unusable(path: string, what: string): UnusableLender {
  return new UnusableLender(`${JSON.stringify(path)} ${what}`);
}
