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

/** Colours and weights that our own output uses (`Output.style`). */
const OWN_STYLES = String.raw`\u001b\[(?:1|22|31|32|33|39|90)m`;
const OBEYED = new RegExp(String.raw`(${OWN_STYLES})|[\n\t]|[\p{C}\u2028\u2029]`, 'gu');

/**
 * The same for text of several lines: line ends and tabs stay, and with `styled` our own colours. Everything that a command prints
 * goes through it, so that no text of a repository, a model or a reviewer moves the cursor, sets a title or hides a line.
 */
export function harmless(text: string, styled: boolean): string {
  return text.replace(OBEYED, (found, style: string | undefined) => {
    if (found === '\n' || found === '\t') return found;
    return style !== undefined && styled ? style : printable(found);
  });
}

/** One line of JSON in which such characters are escapes: the same value to who parses it, and nothing to a terminal. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(/[\p{C}\u2028\u2029]/gu, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );
}
