import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jsonSchemaFiles, SCHEMA_DIRECTORY } from './json-schemas.ts';

test('docs/reference/schemas is what scripts/json-schemas.ts writes', () => {
  const files = jsonSchemaFiles();
  expect(readdirSync(SCHEMA_DIRECTORY).sort()).toEqual([...files.keys()].sort());
  for (const [name, text] of files) {
    expect(readFileSync(join(SCHEMA_DIRECTORY, name), 'utf8'), `${name}: run node scripts/json-schemas.ts`).toBe(text);
  }
});

test('each of them refuses keys that it does not name', () => {
  for (const [name, text] of jsonSchemaFiles()) {
    if (name.endsWith('.json')) expect(text, name).toContain('"additionalProperties": false');
  }
});
