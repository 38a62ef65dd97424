/** Text of others that is kept or shown: cut to a length, and always well-formed. */

/**
 * At most `most` UTF-16 code units. A cut can fall between the halves of a surrogate pair, and text of others can hold half of one; a
 * record has no bytes for that, so U+FFFD stands in its place.
 *
 * @example shortened('ab\u{1f600}', 3) // 'ab\ufffd'
 */
export function shortened(text: string, most: number): string {
  return text.slice(0, most).toWellFormed();
}
