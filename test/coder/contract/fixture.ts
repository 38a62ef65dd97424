/** The whole recording, reduced to what a replay compares (`test/fixtures/coder/contract`, see the README beside it). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const FOLDER = join(import.meta.dirname, '..', '..', 'fixtures', 'coder', 'contract');

/** How many exchanges were recorded; `exchanges.jsonl` has them all. */
export const RECORDED = 364;

const place = { file: z.string(), at: z.int(), label: z.string() };
const exchange = z.object({
  ...place,
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: z.string(),
  /** Header as sent; `default` for polls, which were recorded without; absent for none. */
  auth: z.string().optional(),
  bypass: z.boolean().optional(),
  sent: z.unknown().optional(),
  status: z.int(),
  /** Index into the shapes: every key path of the body, lists merged. */
  shape: z.int(),
  /** Validation fields of a refusal. */
  fields: z.array(z.string()).optional(),
  /** Where in the answer an id stands that later requests name. */
  ids: z.record(z.string(), z.string()).optional(),
  /** What the body says of state. */
  state: z.record(z.string(), z.unknown()).optional(),
});
const trail = z.object({ ...place, note: z.unknown() });

export type Exchange = z.infer<typeof exchange>;
/** What was seen between exchanges: the states that a build, an agent or a chat went through. */
export type Trail = z.infer<typeof trail>;

function lines(name: string): readonly unknown[] {
  return readFileSync(join(FOLDER, name), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);
}

export function recording(): readonly (Exchange | Trail)[] {
  return z.array(z.union([exchange, trail])).parse(lines('exchanges.jsonl'));
}

let shapeCache: readonly (readonly string[])[] | undefined;

export function shapes(): readonly (readonly string[])[] {
  shapeCache ??= z.array(z.array(z.string())).parse(lines('shapes.jsonl'));
  return shapeCache;
}

export function isExchange(entry: Exchange | Trail): entry is Exchange {
  return 'method' in entry;
}

export const keyOf = ({ file, at }: { readonly file: string; readonly at: number }) => `${file}/${at}`;
