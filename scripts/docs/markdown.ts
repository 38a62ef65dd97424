/** The parts that generated pages are made of. */

const MADE = '<!-- Made by `npm run docs` from the code. Edit the code. -->';

export function page(title: string, intro: string, body: string): string {
  return `${MADE}\n\n# ${title}\n\n${intro}\n\n${body}\n`;
}

export function markdownTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('{', '\\{').replaceAll('<', '&lt;');
}
