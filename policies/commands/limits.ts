/** Bounds and characters that every argv keeps, whatever a document says (spec/delegated-verification.md section 3). */

export const ARGV_LIMITS = { arguments: 32, argumentBytes: 256, totalBytes: 2048, artifacts: 32 } as const;

/** No quote, space, glob, control or non-ASCII character: nothing a shell, a config parser or a reader could take for more. */
const TOKEN_PATTERN = /^[A-Za-z0-9._/@:=+-]+$/;

/** Why the size of an argv is not permitted; `null` when it is. Sizes are checked before any character is looked at. */
export function sizeProblem(argv: readonly string[]): string | null {
  if (argv.length === 0) return 'the argv is empty';
  if (argv.length > ARGV_LIMITS.arguments) return `more than ${ARGV_LIMITS.arguments} arguments`;
  let total = 0;
  for (const [index, token] of argv.entries()) {
    // A code unit is at least one byte, so a huge token is refused without being encoded.
    const bytes = token.length > ARGV_LIMITS.argumentBytes ? token.length : new TextEncoder().encode(token).length;
    if (bytes > ARGV_LIMITS.argumentBytes) {
      return `argument ${index} is longer than ${ARGV_LIMITS.argumentBytes} bytes`;
    }
    total += bytes;
  }
  return total > ARGV_LIMITS.totalBytes ? `the argv is longer than ${ARGV_LIMITS.totalBytes} bytes` : null;
}

/** Why a token's characters are not permitted; `null` when they are. */
export function characterProblem(token: string): string | null {
  if (token === '') return 'it is empty';
  return TOKEN_PATTERN.test(token) ? null : 'it has a character outside A-Z a-z 0-9 . _ / @ : = + -';
}

/** Why a value that somebody else chose may not stand in a command; `null` when it may. */
export function valueProblem(value: string): string | null {
  const characters = characterProblem(value);
  if (characters !== null) return characters;
  if (value.startsWith('-')) return 'it begins with -, so a tool would read it as a flag';
  if (value.split('/').includes('..')) return 'it has a .. segment';
  return null;
}

/** Why a path is not one inside the checkout, by its text; `null` when it is. Links are looked at where the files are. */
export function relativePathProblem(path: string): string | null {
  if (path.length > ARGV_LIMITS.argumentBytes) return `it is longer than ${ARGV_LIMITS.argumentBytes} characters`;
  const value = valueProblem(path);
  if (value !== null) return value;
  if (path.startsWith('/')) return 'it is absolute';
  return path.split('/').some((segment) => segment === '' || segment === '.') ? 'it has an empty or . segment' : null;
}
