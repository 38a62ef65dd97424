/** The documents against what the server answered: the operation is there, the status is listed, the body fits. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { CHATS_CHECKED_AGAINST } from '../chats/port.ts';
import { type Exchange, exchanges, recorded, RECORDED } from '../../../test/coder/recordings.ts';

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: Content }>>;
}
type Content = Readonly<Record<string, { readonly schema: object }>>;
interface Document {
  readonly info: { readonly 'x-checked-against': string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly required?: readonly string[] }>>;
    readonly responses: Readonly<Record<string, { readonly content: Content }>>;
  };
}

/** Exchanges that the documents leave out on purpose; everything else must fit. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'GET /api/v2/users/me/login-type': 'only there to show a rate limit',
  'POST /api/experimental/chats/model-configs': 'an operator sets models up',
  'DELETE /api/experimental/chats/{chat}': 'no such method: 405 without a body',
};

const documents = ['coder', 'chats'].map(
  (name) => parse(readFileSync(join(import.meta.dirname, `${name}.yaml`), 'utf8')) as Document,
);
const fitting = new Set<Exchange>();

/** A body's schema; null when the answer has none. Throws when operation or status are not in the documents. */
function schemaFor({ method, path, status, body }: Exchange): z.ZodType | null {
  const { document, operation } = operationFor(method, path);
  const listed = operation.responses[String(status)];
  if (listed === undefined) throw new Error(`${operation.operationId} lists no ${status}`);
  const content = listed.$ref === undefined ? listed.content : document.components.responses.Problem?.content;
  const media = content?.[typeof body === 'string' ? 'text/plain' : 'application/json'];
  return media === undefined ? null : toZod(document, media.schema);
}

function operationFor(method: string, path: string): { document: Document; operation: Operation } {
  const parts = (path.split('?')[0] ?? '').split('/');
  // A path without parameters wins over one with, as in the specification.
  const candidates = documents.flatMap((document) =>
    Object.entries(document.paths).flatMap(([pattern, item]) => {
      const steps = pattern.split('/');
      const fits = steps.length === parts.length && steps.every((s, i) => s.startsWith('{') || s === parts[i]);
      const operation = item[method.toLowerCase()];
      return fits && operation !== undefined ? [{ document, operation, open: pattern.split('{').length }] : [];
    }),
  );
  const best = candidates.sort((a, b) => a.open - b.open)[0];
  if (best === undefined) throw new Error(`no operation for ${method} ${path}`);
  return best;
}

const built = new Map<string, z.ZodType>();

function toZod(document: Document, schema: object): z.ZodType {
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas });
  const known = built.get(text);
  if (known !== undefined) return known;
  const made = z.fromJSONSchema(
    JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')) as z.core.JSONSchema.JSONSchema,
  );
  built.set(text, made);
  return made;
}

const inScope = exchanges().filter(
  ({ method, path }) => !Object.keys(LEFT_OUT).some((left) => fits(left, `${method} ${path}`)),
);

function fits(pattern: string, call: string): boolean {
  return new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(call);
}

test.each([...new Set(inScope.map(({ file }) => file))])('the documents describe what was recorded in %s', (file) => {
  const misfits = inScope
    .filter((exchange) => exchange.file === file)
    .flatMap((exchange) => {
      const misfit = misfitOf(exchange);
      if (misfit === null) fitting.add(exchange);
      return misfit === null ? [] : [`${exchange.at} ${exchange.label}: ${misfit}`];
    });
  expect(misfits).toEqual([]);
});

function misfitOf(exchange: Exchange): string | null {
  const schema = schemaFor(exchange);
  if (schema === null) return exchange.body === undefined ? null : 'a body where none is described';
  const error = schema.safeParse(exchange.body).error;
  return error === undefined ? null : z.prettifyError(error);
}

afterAll(() => {
  console.info(
    `coder documents: ${fitting.size} of ${RECORDED} recorded exchanges covered, ${exchanges().length} kept here`,
  );
});

test('the exchanges in scope are nearly all that were recorded', () => {
  expect(inScope.length).toBeGreaterThanOrEqual(320);
});

test.each(['Workspace', 'Build', 'Job', 'Agent'])('a %s without one of its required fields does not fit', (name) => {
  const [document] = documents;
  const workspace = structuredClone(recorded('01', 11).body) as Record<string, unknown>;
  const build = workspace.latest_build as Record<string, unknown>;
  const agent = (build.resources as { agents: Record<string, unknown>[] }[])[0]?.agents[0];
  const sample = { Workspace: workspace, Build: build, Job: build.job, Agent: agent }[name] as Record<string, unknown>;
  const required = document?.components.schemas[name]?.required ?? [];
  expect(required.length).toBeGreaterThan(4);
  for (const field of required) {
    const { [field]: _, ...rest } = sample;
    const schema = toZod(document!, { $ref: `#/components/schemas/${name}` });
    expect(schema.safeParse(sample).success, name).toBe(true);
    expect(schema.safeParse(rest).success, field).toBe(false);
  }
});

test('each document says which version it was checked against, and the chat adapter the same', () => {
  const versions = documents.map(({ info }) => info['x-checked-against']);
  expect(versions).toEqual(['v2.36.0', CHATS_CHECKED_AGAINST]);
});
