/** The number in an attribute of an XML element's text; `null` when it is not there or is none. */
export function xmlCount(attributes: string, name: string): number | null {
  const match = new RegExp(`(?:^|\\s)${name}="(\\d{1,9})"`).exec(attributes);
  return match === null ? null : Number(match[1]);
}
