import { expect, test } from 'vitest';
import { refuseFields } from './refusal.ts';
import { checkSearchKeys, isUuid, searchTerms } from './request.ts';

test('a search has terms with keys, quotes keep blanks together, a bare word is a name', () => {
  expect(searchTerms('owner:me param:portcullis_run=workspace/local/T-1 name:"a b" forge')).toEqual([
    ['owner', 'me'],
    ['param', 'portcullis_run=workspace/local/T-1'],
    ['name', 'a b'],
    ['name', 'forge'],
  ]);
});

test('a key that is not searched by is refused by its name', () => {
  const check = () => checkSearchKeys([['deleted', 'true']], ['owner'], 'Invalid workspace search query.');
  expect(check).toThrow(
    refuseFields('Invalid workspace search query.', [
      { field: 'deleted', detail: '"deleted" is not a valid query param' },
    ]),
  );
});

test.each([
  ['a2966767-8d91-480e-8a9b-c475ef784e4c', true],
  ['nope', false],
  ['', false],
])('%s as an id: %s', (text, is) => {
  expect(isUuid(text)).toBe(is);
});
