/** `npm run coder-types`: writes the types of the Coder documents beside them. */
import { writeFile } from 'node:fs/promises';
import { CODER_DOCUMENTS, coderTypes } from './coder/types.ts';

for (const document of CODER_DOCUMENTS) await writeFile(document.types, await coderTypes(document));
