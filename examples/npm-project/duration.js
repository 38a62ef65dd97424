import ms from 'ms';

/** Milliseconds of a duration as people write it: `2 days`, `10h`. */
export function milliseconds(text) {
  const value = ms(text);
  if (value === undefined) throw new RangeError(`not a duration: ${text}`);
  return value;
}
