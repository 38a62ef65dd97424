/**
 * A pnpm-lock.yaml as pnpm writes it, and no other YAML: what a reader of lines does not see (escapes, explicit keys, anchors,
 * flow mappings) pnpm would read all the same. Each package has to be named by a digest alone: anything else names a place.
 */

/** A value of one line: a quoted one ends on it. */
const VALUE = /(?: (?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^"'].*))?$/.source;
const TOP_LEVEL = new RegExp(`^[A-Za-z]+:${VALUE}`);
const PACKAGE = /^ {2}(?:'[^'\\]+'|[^\s'"?&*!{[|>#%@`-][^\s\\]*):$/;
const FIELD = new RegExp(`^ {4}[A-Za-z]+:${VALUE}`);
const DEEPER = /^ {5}/;
/** An escape or an anchor, by which a name could stand there without being written. */
const HIDING = /\\|(?:^|[\s:[{,])&\S/;
const RESOLUTION = /^ {4}resolution: \{integrity: sha(?:256|384|512)-[A-Za-z0-9+/]+={0,2}\}$/;
const OTHER_SOURCE = /\b(?:tarball|repo|commit|directory|type|path):/;

/** Where a line stands: before any section, in one that names no package, in `packages` or in one of them. */
type Place = 'outside' | 'elsewhere' | 'packages' | 'digest' | 'package';

/** Why it is refused, with its line; `null` when it is not. */
export function pnpmLockProblem(lock: string): string | null {
  let place: Place = 'outside';
  for (const [index, line] of lock.split(/\r?\n/).entries()) {
    if (line === '' || /^\s*#/.test(line)) continue;
    const next = placeAfter(line, place);
    if (typeof next !== 'string') return `line ${index + 1}: ${next.problem}`;
    place = next;
  }
  return place === 'digest' ? 'its end: a package has no digest' : null;
}

function placeAfter(line: string, place: Place): Place | { readonly problem: string } {
  if (place === 'digest') return RESOLUTION.test(line) ? 'package' : { problem: `a package ${sourceOf(line)}` };
  if (/\bresolution\b["']?\s*:/.test(line)) return { problem: `a package ${sourceOf(line)}` };
  if (line === '---') return 'outside';
  if (/^\S/.test(line)) return sectionAfter(line);
  if (place === 'elsewhere') return HIDING.test(line) ? UNKNOWN : place;
  if (place !== 'outside' && PACKAGE.test(line)) return 'digest';
  return place === 'package' && (FIELD.test(line) || DEEPER.test(line)) ? place : UNKNOWN;
}

function sectionAfter(line: string): Place | { readonly problem: string } {
  const key = line.slice(0, line.indexOf(':'));
  if (!TOP_LEVEL.test(line)) return UNKNOWN;
  if (key === 'patchedDependencies' || key === 'pnpmfileChecksum')
    return { problem: `${key} would run or change what is installed` };
  if (key !== 'packages') return 'elsewhere';
  if (line === 'packages:') return 'packages';
  return line === 'packages: {}' ? 'elsewhere' : UNKNOWN;
}

const UNKNOWN = { problem: 'it is none that pnpm writes' } as const;

function sourceOf(line: string): string {
  return OTHER_SOURCE.test(line) ? 'comes from outside a registry' : 'has no digest';
}
