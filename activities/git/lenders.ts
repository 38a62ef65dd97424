/**
 * From which other object directories a repository borrows (`objects/info/alternates`: `clone --shared`, `--reference`),
 * found without git and shown to git by us. Whoever writes that file chooses the directories, so each has to hold nothing but
 * git objects and to belong to the owner of the borrowing repository (docs/decisions/0004-bundles.md).
 * https://git-scm.com/docs/gitrepository-layout#Documentation/gitrepository-layout.txt-objectsinfoalternates
 */
import { realpath } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { withDirectory, type HeldDirectory } from './held-directory.ts';

export interface Lender {
  /** Real path of the object directory, or of a directory of packs. */
  readonly path: string;
  /** Device and inode: what is mounted later has to be this one. */
  readonly identity: string;
  /** Whether it borrows in turn, so that its own file has to be hidden from git. */
  readonly borrows: boolean;
  /** A `pack` directory behind a link holds packs and nothing else. */
  readonly holds: 'objects' | 'packs';
}

export interface Lending {
  /** Whether the object directory itself names any, so that its file has to be hidden from git. */
  readonly borrows: boolean;
  readonly lenders: readonly Lender[];
}

/** Why the borrowing cannot be followed, in words that name the directory. */
export class UnusableLender extends Error {}

/** git itself follows five levels. */
const MAX_DEPTH = 5;
const MAX_LENDERS = 64;
const MAX_FILE_BYTES = 64 * 1024;
/** 256 fan-out directories, two more, and what an interrupted git leaves behind. */
const MAX_ENTRIES = 1024;
const PACKS_ENTRY =
  /^(?:\.?(?:tmp-\d+-)?pack-[0-9a-f]{40,64}\.\w+|multi-pack-index(?:[-.][\w.-]+)?|\.?tmp[-_][\w.-]+|\.nfs\w+)$/;
const OBJECTS_ENTRY = /^(?:[0-9a-f]{2}|pack|info|(?:tmp|incoming|bulk-)[\w.-]+|maintenance\.lock)$/;

/**
 * Everything that this object directory borrows from, each once, in git's order, and where its packs are kept elsewhere.
 * @param objects real path
 * @param owner user id of the borrowing repository
 * @throws `UnusableLender`
 */
export async function findLenders(objects: string, owner: number): Promise<Lending> {
  const found = new Map<string, Lender>();
  const own = await withDirectory(objects, (held) => look(held, owner));
  if (own === null) throw unusable(objects, 'is no directory');
  add(own.packs);
  await follow(objects, own.names, 0);
  return { borrows: own.names.length > 0, lenders: [...found.values()] };

  function add(lender: Lender | null): void {
    if (lender === null) return;
    if (found.size === MAX_LENDERS) throw unusable(lender.path, `is one more than ${MAX_LENDERS}`);
    found.set(lender.identity, lender);
  }

  async function follow(borrower: string, names: readonly string[], depth: number): Promise<void> {
    if (names.length > 0 && depth >= MAX_DEPTH) throw unusable(borrower, `is the end of more than ${MAX_DEPTH} levels`);
    for (const name of names) {
      const path = normalize(name.startsWith('/') ? name : `${borrower}/${name}`);
      const { lender, packs, names: further } = await lenderAt(path, owner);
      // A ring is no fault: git too takes each directory once.
      if (lender.identity === own?.identity || found.has(lender.identity)) continue;
      add(lender);
      add(packs);
      await follow(lender.path, further, depth + 1);
    }
  }
}

/** Whether a directory holds only what git keeps among objects, so that nothing else of this machine is ever shown. */
export async function holdsObjects(directory: HeldDirectory): Promise<boolean> {
  let count = 0;
  let known = false;
  for await (const name of directory.names()) {
    count += 1;
    if (count > MAX_ENTRIES || !OBJECTS_ENTRY.test(name)) return false;
    known ||= name === 'pack' || name === 'info' || name.length === 2;
  }
  return known;
}

interface ObjectDirectory {
  readonly identity: string;
  /** The directories that it borrows from, as written. */
  readonly names: readonly string[];
  readonly packs: Lender | null;
}

async function look(held: HeldDirectory, owner: number): Promise<ObjectDirectory> {
  return { identity: held.identity, names: await readAlternates(held), packs: await linkedPacks(held, owner) };
}

async function lenderAt(named: string, owner: number): Promise<ObjectDirectory & { readonly lender: Lender }> {
  const path = await realpath(named).catch(() => null);
  if (path === null) throw unusable(named, 'is not there');
  // One look for owner, contents and identity: whoever swaps the directory afterwards is found out when it is mounted.
  const found = await withDirectory(path, async (held) => {
    if (held.uid !== owner) throw unusable(path, 'belongs to another user than the repository');
    if (!(await holdsObjects(held))) throw unusable(path, 'is no git object directory');
    const { identity, names, packs } = await look(held, owner);
    return { identity, names, packs, lender: { path, identity, borrows: names.length > 0, holds: 'objects' } as const };
  });
  if (found === null) throw unusable(path, 'is no directory');
  return found;
}

/** Packs that are kept on another disk, behind a link. `null` where they are in the object directory itself. */
async function linkedPacks(objects: HeldDirectory, owner: number): Promise<Lender | null> {
  const link = await objects.look('pack');
  if (link?.kind !== 'link') return null;
  const named = join(objects.path, 'pack');
  const path = await realpath(named).catch(() => null);
  if (path === null) throw unusable(named, 'is a link that leads nowhere');
  const found = await withDirectory(path, async (held): Promise<Lender> => {
    if (held.uid !== owner || link.uid !== owner) throw unusable(path, 'belongs to another user than the repository');
    for await (const name of held.names()) {
      if (!PACKS_ENTRY.test(name)) throw unusable(path, 'is no directory of git packs');
    }
    return { path, identity: held.identity, borrows: false, holds: 'packs' };
  });
  if (found === null) throw unusable(path, 'is no directory');
  return found;
}

/** The directories that it names, as written; none where the file is not there. */
async function readAlternates(objects: HeldDirectory): Promise<readonly string[]> {
  const file = join(objects.path, 'info', 'alternates');
  if ((await objects.look('info'))?.kind === 'link') throw unusable(join(objects.path, 'info'), 'is a symbolic link');
  if ((await objects.look('info/alternates')) === null) return [];
  const bytes = await objects.readFile('info/alternates', MAX_FILE_BYTES);
  if (bytes === null) throw unusable(file, 'is no list of directories');
  return decode(file, bytes)
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
