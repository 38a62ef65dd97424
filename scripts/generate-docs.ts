/** `npm run docs`: writes the pages of `docs/reference/` that are made from code. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { referencePages } from './docs/pages.ts';

const REFERENCE = join(import.meta.dirname, '..', 'docs', 'reference');

await mkdir(REFERENCE, { recursive: true });
for (const [name, text] of Object.entries(referencePages())) await writeFile(join(REFERENCE, name), text);
