/**
 * A Cargo.lock as cargo writes it, and no other TOML: what a reader of lines does not see (quoted keys, other strings, inline
 * tables) cargo would read all the same. Each package of a registry has to have its digest.
 */

/** The one registry that a policy can name, by the two names that cargo gives it. */
const SOURCES: readonly string[] = [
  'registry+https://github.com/rust-lang/crates.io-index',
  'sparse+https://index.crates.io/',
];

const NAME_OR_VERSION = /^(?:name|version|replace) = "[^"\\]*"$|^version = \d{1,3}$/;
const TABLE = /^(?:\[\[package\]\]|\[\[patch\.unused\]\]|\[root\]|\[metadata\])$/;
const ARRAY = /^(?:dependencies = \[|\]| "[^"\\]*",)$/;
const SOURCE = /^source = "([^"\\]*)"$/;
const CHECKSUM = /^checksum = "[0-9a-f]{64}"$/;
/** Where lockfiles of version 1 keep digests. */
const METADATA = /^"checksum (\S+ \S+) \([^"\\]*\)" = "(?:[0-9a-f]{64}|<none>)"$/;

export interface CargoLock {
  /** Why it is refused; `null` when it is not. */
  readonly problem: string | null;
  /** Whether a package of it comes from a registry. */
  readonly hasPackages: boolean;
}

export function readCargoLock(text: string): CargoLock {
  const lines = text.split(/\r?\n/);
  const odd = lines.findIndex((line) => !isKnown(line));
  if (odd >= 0) return refused(`line ${odd + 1} is none that cargo writes`);
  const inMetadata = new Set(
    lines.flatMap((line) => (line.endsWith('"<none>"') ? [] : (METADATA.exec(line)?.[1] ?? []))),
  );
  let hasPackages = false;
  for (const block of blocksOf(lines)) {
    const source = block.flatMap((line) => SOURCE.exec(line)?.[1] ?? []);
    if (source.length === 0) continue;
    const name = valueOf(block, 'name');
    const other = source.find((one) => !SOURCES.includes(one));
    if (other !== undefined) return refused(`${name} is of ${other.slice(0, 120)}, which is no permitted registry`);
    const isHeld = block.some((line) => CHECKSUM.test(line)) || inMetadata.has(`${name} ${valueOf(block, 'version')}`);
    if (!isHeld) return refused(`${name} has no digest`);
    hasPackages = true;
  }
  return { problem: null, hasPackages };
}

function isKnown(line: string): boolean {
  return (
    line === '' ||
    line.startsWith('#') ||
    [NAME_OR_VERSION, TABLE, ARRAY, SOURCE, CHECKSUM, METADATA].some((one) => one.test(line))
  );
}

function blocksOf(lines: readonly string[]): readonly (readonly string[])[] {
  const blocks: string[][] = [[]];
  for (const line of lines) {
    if (TABLE.test(line)) blocks.push([]);
    blocks.at(-1)?.push(line);
  }
  return blocks;
}

function valueOf(block: readonly string[], key: string): string {
  const prefix = `${key} = "`;
  return block.find((line) => line.startsWith(prefix))?.slice(prefix.length, -1) ?? '';
}

function refused(problem: string): CargoLock {
  return { problem, hasPackages: false };
}
