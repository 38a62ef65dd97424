/** Paths that a go.mod or go.work names: modules that are replaced by a directory, and members of a workspace. */
import { posix } from 'node:path';

const QUOTED = /^(["`])(.*)\1$/;

/** The first path that leads out of the tree; `null` when there is none. @param path of the file itself, below the tree */
export function pathOutside(path: string, text: string): string | null {
  const named = text.split(/\r?\n/).map((line) => line.replace(/\/\/.*$/, '').trim());
  return [...replacements(named), ...uses(named)].find((target) => leadsOut(posix.dirname(path), target)) ?? null;
}

function replacements(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => {
    const [, after] = line.split('=>');
    return after === undefined ? [] : [firstWord(after)];
  });
}

function uses(lines: readonly string[]): readonly string[] {
  const found: string[] = [];
  let isOpen = false;
  for (const line of lines) {
    if (/^use\s*\($/.test(line)) isOpen = true;
    else if (line === ')') isOpen = false;
    else if (isOpen && line !== '') found.push(firstWord(line));
    else if (/^use\s/.test(line)) found.push(firstWord(line.slice('use'.length)));
  }
  return found;
}

function firstWord(text: string): string {
  const word = text.trim().split(/\s+/)[0] ?? '';
  return QUOTED.exec(word)?.[2] ?? word;
}

/** What is neither absolute nor begins with a dot is a module's name, not a path. */
function leadsOut(directory: string, target: string): boolean {
  if (posix.isAbsolute(target) || target.includes('\\')) return true;
  if (!/^\.{1,2}(?:\/|$)/.test(target)) return false;
  const reached = posix.normalize(posix.join(directory, target));
  return reached === '..' || reached.startsWith('../');
}
