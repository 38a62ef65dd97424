import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { CODER_DOCUMENTS, coderTypes } from './types.ts';

test.each(CODER_DOCUMENTS.map((document) => [basename(document.source), document] as const))(
  'the types of %s are those that the document gives today',
  async (_, document) => {
    const [committed, made] = await Promise.all([readFile(document.types, 'utf8'), coderTypes(document)]);
    expect(committed === made, 'run `npm run coder-types` and commit').toBe(true);
  },
);
