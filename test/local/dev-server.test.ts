import { expect, inject, test } from 'vitest';
import { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTE_NAMES } from '../../schemas/search-attributes.ts';

test('the dev server of the run knows every search attribute', async () => {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  try {
    const known = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
    expect(Object.keys(known.customAttributes)).toEqual(expect.arrayContaining([...SEARCH_ATTRIBUTE_NAMES]));
  } finally {
    await connection.close();
  }
});
