/** Adds to a text of which only the end is of interest. Cut now and then, and not with each part: see {@link lastBytes}. */
export function appended(text: string, part: string, bytes: number): string {
  const all = text + part;
  return all.length > 2 * bytes ? lastBytes(all, bytes) : all;
}

/** The end of a text, whole characters only. */
export function lastBytes(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const all = Buffer.from(text);
  if (all.length <= bytes) return text;
  const tail = all.subarray(all.length - bytes);
  let start = 0;
  while (start < 4 && ((tail[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return tail.subarray(start).toString('utf8');
}
