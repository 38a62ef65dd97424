import { expect, test } from 'vitest';
import { plannedSegments } from './plan.ts';

test.each([
  ['## Segment 1\ntext\n## Segment 2: parsing\n', 2],
  ['## segment 1', 1],
  ['# Plan\n\n## Approach\nnone', null],
  ['## Segment 2\n', null],
  ['## Segment 1\n## Segment 3\n', null],
  ['## Segment 1\n## Segment 1\n', null],
  ['### Segment 1\n', null],
  ['see ## Segment 1\n', null],
  ['## Segment 10x\n', null],
  [Array.from({ length: 17 }, (_, n) => `## Segment ${n + 1}`).join('\n'), null],
])('%j plans %s segments', (text, segments) => {
  expect(plannedSegments(text)).toBe(segments);
});
