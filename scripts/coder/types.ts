/** Types made from our own OpenAPI documents of the Coder API (`activities/coder/openapi/`). */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import openapiTS, { astToString, COMMENT_HEADER } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';

const FOLDER = join(import.meta.dirname, '..', '..', 'activities', 'coder', 'openapi');

export interface CoderDocument {
  /** Where the document is. */
  readonly source: string;
  /** Where its types go. */
  readonly types: string;
}

export const CODER_DOCUMENTS: readonly CoderDocument[] = ['coder', 'chats'].map((name) => ({
  source: join(FOLDER, `${name}.yaml`),
  types: join(FOLDER, `${name}.ts`),
}));

/** The text of the types, formatted like the rest of the code, so that a difference is a difference of meaning. */
export async function coderTypes({ source, types }: CoderDocument): Promise<string> {
  const nodes = await openapiTS(pathToFileURL(source), { immutable: true, exportType: true });
  const text = `${COMMENT_HEADER}// Made by \`npm run coder-types\`.\n${astToString(nodes)}`;
  return format(text, { ...(await resolveConfig(types)), filepath: types });
}
