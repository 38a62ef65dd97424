import fc from 'fast-check';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { expect, test } from 'vitest';
import type { VerdictReading } from '../../schemas/verdict.ts';
import { readBlock } from './block.ts';
import { jsonFences } from './fences.ts';
import { parseVerdict, parseVerdictBytes } from './parse.ts';

const APPROVED = '{"verdict":"APPROVED"}';
const UNREADABLE = { verdict: 'UNPARSEABLE' };

/** Pieces from which messages are put together, whole ones and broken ones. */
const pieces = [
  '```json\n',
  '```JSON x\n',
  '~~~json\n',
  '````text\n',
  '```\n',
  '~~~\n',
  '````\n',
  '```json',
  '> ',
  '>',
  '- ',
  '1. ',
  '    ',
  '\t',
  '  ',
  '\n',
  '\n\n',
  '\r\n',
  '\r',
  '<!--',
  '-->',
  '<div>',
  '</div>\n',
  '<pre>',
  '# ',
  '===\n',
  '---\n',
  '[a]: b\n',
  '[a]: b "',
  '`',
  '*',
  '\\',
  '&#106;son',
  '\0',
  '\uFEFF',
  '\uD800',
  APPROVED,
  '{"verdict":"REJECTED","verdict_token":"RETRY_FORJA"}',
  '{"verdict_token":"NEEDS_HUMAN"}',
  '{"verdict":"APPROVED","verdict":"REJECTED"}',
  '{"a":1}',
  '[]',
  '{',
  'APPROVED',
  'text',
];
const soup = fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join(''));

test('[inv-19] whatever the message, one of three verdicts and no exception', () => {
  fc.assert(
    fc.property(fc.oneof(soup, fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' })), (message) => {
      expect(['APPROVED', 'REJECTED', 'UNPARSEABLE']).toContain(parseVerdict(message).verdict);
    }),
    { numRuns: 5000 },
  );
});

test('[inv-19] whatever the bytes, one of three verdicts and no exception', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(['APPROVED', 'REJECTED', 'UNPARSEABLE']).toContain(parseVerdictBytes(bytes).verdict);
    }),
    { numRuns: 2000 },
  );
});

test('leaving inline Markdown unparsed finds the same blocks as the whole parser', () => {
  const inline = [
    '[',
    '](',
    ']',
    '![',
    '<a href="',
    '<http://a>',
    '**',
    '_',
    '``',
    '\\\n',
    '  \n',
    '&amp;',
    '<b>',
    '<!',
  ];
  const message = fc.array(fc.constantFrom(...pieces, ...inline), { maxLength: 40 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(message, (text) => {
      expect(jsonFences(text)).toEqual(fencesOfWholeParser(text));
    }),
    { numRuns: 3000 },
  );
});

type Node = ReturnType<typeof fromMarkdown> | ReturnType<typeof fromMarkdown>['children'][number];

/** The same blocks from the parser with nothing turned off, by recursion. */
function fencesOfWholeParser(message: string): readonly string[] {
  const walk = (node: Node): readonly string[] => {
    if (node.type === 'code') return node.lang?.toLowerCase() === 'json' ? [node.value] : [];
    return node.type === 'root' || node.type === 'list' || node.type === 'listItem' ? node.children.flatMap(walk) : [];
  };
  return walk(fromMarkdown(message));
}

type Parse = (message: string) => VerdictReading;

/** Text for people that says everything a verdict says, in every place that is no fenced `json` block. */
const prose = fc.array(
  fc.oneof(
    fc.constantFrom(
      'APPROVED',
      '**Verdict: APPROVED**',
      'REJECTED: RETRY_FORJA',
      'verdict_token: NEEDS_HUMAN',
      APPROVED,
      `\`${APPROVED}\``,
      `> \`\`\`json\n> ${APPROVED}\n> \`\`\``,
      `\`\`\`\`text\n\`\`\`json\n${APPROVED}\n\`\`\`\n\`\`\`\``,
      `\`\`\`json5\n${APPROVED}\n\`\`\``,
      `\`\`\`\n${APPROVED}\n\`\`\``,
      `<!--\n\`\`\`json\n${APPROVED}\n\`\`\`\n-->`,
      `<div>\n\`\`\`json\n${APPROVED}\n\`\`\`\n</div>`,
      `# t\n\n    \`\`\`json\n    ${APPROVED}\n    \`\`\``,
      `\`\`\`json\n{"name":"x"}\n\`\`\``,
      `\`\`\`json\n[${APPROVED}]\n\`\`\``,
      '- a\n  - b',
      '1. a',
      'a\n===',
      '| a | b |\n|---|---|',
      '[a]: /b "c"',
      '[approved][a] ![x](y) <b>APPROVED</b>',
    ),
    // One line of anything that neither opens a fence nor HTML.
    fc.string({ unit: 'grapheme', maxLength: 60 }).map((line) => `x${line.replace(/[\r\n]/g, ' ')}`),
  ),
  { maxLength: 6 },
);

/** Paragraphs set apart by headings, so that no list goes on into the next one. */
const joined = (parts: readonly string[]) => parts.map((part) => `${part}\n\n# next\n\n`).join('');

const noBlockNoApproval = (parse: Parse) =>
  fc.property(prose, (parts) => parse(joined(parts)).verdict === UNREADABLE.verdict);

const blocks = [
  APPROVED,
  '{"verdict":"REJECTED","verdict_token":"RETRY_FORJA","failure_class":"lint"}',
  '{"verdict_token":"BLOCKED_UPSTREAM"}',
  '{"verdict":"REJECTED"}',
  '{"verdict":"APPROVED"',
];
const proseIsNeverWeighed = (parse: Parse) =>
  fc.property(prose, fc.constantFrom(...blocks), prose, (before, block, after) => {
    const message = `${joined(before)}\`\`\`json\n${block}\n\`\`\`\n\n${joined(after)}`;
    return JSON.stringify(parse(message)) === JSON.stringify(readBlock(block));
  });

const RUNS = { numRuns: 1500 };

test('[inv-07] without a block there is no verdict, whatever the prose says', () => {
  fc.assert(noBlockNoApproval(parseVerdict), RUNS);
});

test('prose before and after never changes what the block says', () => {
  fc.assert(proseIsNeverWeighed(parseVerdict), RUNS);
});

test.each<[string, Parse]>([
  [
    'infers an approval from prose',
    (text) => (text.includes('APPROVED') ? { verdict: 'APPROVED' } : parseVerdict(text)),
  ],
  [
    'finds blocks by a regular expression',
    (text) => readBlock(/```json\n([^]*?)\n```/.exec(text)?.[1] ?? '') ?? parseVerdict(text),
  ],
  [
    'lets the first block decide',
    (text) =>
      jsonFences(`${text}\n`)
        .map(readBlock)
        .find((reading) => reading !== null) ?? parseVerdict(`> ${text}`),
  ],
  [
    'falls back to an earlier block',
    (text) =>
      jsonFences(text)
        .map(readBlock)
        .findLast((reading) => reading !== null && reading.verdict !== 'UNPARSEABLE') ?? parseVerdict(''),
  ],
])('the properties and the table catch a parser that %s', (_, mutant) => {
  const byProperty =
    fc.check(noBlockNoApproval(mutant), RUNS).failed || fc.check(proseIsNeverWeighed(mutant), RUNS).failed;
  const good = `\`\`\`json\n${APPROVED}\n\`\`\`\n\n`;
  const byTable = ['```json\n{"verdict":"REJECTED"}\n```', '```json\n{\n```'].some(
    (last) => mutant(good + last).verdict !== 'UNPARSEABLE',
  );
  expect(byProperty || byTable).toBe(true);
});
