/** Text that others wrote, as a terminal may be given it. */

/**
 * On one line, without what a terminal would obey: control characters, escapes, and marks that turn the reading direction become
 * U+FFFD.
 *
 * @example printable('a\u001b[2Jb\n') // 'a\ufffd[2Jb\ufffd'
 */
export function printable(text: string): string {
  return text.replace(/[\p{C}\u2028\u2029]/gu, '\ufffd');
}
