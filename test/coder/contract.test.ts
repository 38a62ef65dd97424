/** The recording of a real server, replayed against the local one. `npm run contract` prints the differences. */
import { expect, test } from 'vitest';
import { isExchange, RECORDED, recording } from './contract/fixture.ts';
import { replay } from './contract/replay.ts';
import { Stand } from './contract/stand.ts';

/** How many of the recorded exchanges, and of the trails between them, are to be answered alike at least. */
const ALIKE = 364;
const FOLLOWED = 61;

test('the local Coder answers what was recorded as the real one did', { timeout: 120_000 }, async () => {
  expect(recording().filter(isExchange)).toHaveLength(RECORDED);
  const stand = new Stand();
  try {
    await stand.world.start();
    const { exchanges, trails } = await replay(stand);
    const other = [...exchanges, ...trails].flatMap(({ key, differs }) =>
      differs === null ? [] : [`${key}: ${differs}`],
    );
    const alike = exchanges.filter(({ differs }) => differs === null).length;
    const followed = trails.filter(({ differs }) => differs === null).length;
    expect(alike, other.join('\n')).toBeGreaterThanOrEqual(ALIKE);
    expect(followed, other.join('\n')).toBeGreaterThanOrEqual(FOLLOWED);
  } finally {
    await stand.close();
  }
});
