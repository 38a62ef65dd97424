/** Reads a ticket file: YAML or JSON, strict, without aliases, each key once. */
import { parseDocument } from 'yaml';
import { portcullisError } from '../../schemas/errors.ts';
import { ticketDefinitionSchema } from '../../schemas/ticket/definition.schema.ts';
import type { TicketDefinition } from '../../schemas/ticket/definition.ts';
import { readBoundedFile } from '../read-file.ts';

/** Longer than every bound of a ticket together. */
const MAX_FILE_BYTES = 256 * 1024;

/** `-` is stdin. @throws `schema_invalid` naming the field, `not_found` for a file that is not there, `body_too_large` */
export async function readTicketFile(file: string): Promise<TicketDefinition> {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(await readBoundedFile(file, MAX_FILE_BYTES));
  const document = parseDocument(text, { uniqueKeys: true, schema: 'core', prettyErrors: true });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem !== undefined)
    throw portcullisError('schema_invalid', { path: file, reason: firstLine(problem.message) });
  let value: unknown;
  try {
    // An alias could make a small file a huge value.
    value = document.toJS({ maxAliasCount: 0 });
  } catch (thrown) {
    throw portcullisError('schema_invalid', { path: file, reason: 'uses an alias' }, thrown);
  }
  const parsed = ticketDefinitionSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw portcullisError('schema_invalid', {
    path: issue?.path.join('.') === '' ? file : (issue?.path.join('.') ?? file),
    reason: issue?.message ?? 'is not a ticket',
  });
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? text;
}
