/** The recorded exchanges of `test/fixtures/coder/` (see its README). */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', 'fixtures', 'coder');

/** How many exchanges the whole recording holds; the fixtures are those that matter here. */
export const RECORDED = 364;

export interface Exchange {
  readonly file: string;
  readonly at: number;
  readonly label: string;
  readonly method: string;
  readonly path: string;
  readonly token: string | null;
  readonly sent?: unknown;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

let cache: readonly Exchange[] | undefined;

export function exchanges(): readonly Exchange[] {
  cache ??= readdirSync(FOLDER)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .flatMap((name) =>
      readFileSync(join(FOLDER, name), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => ({ file: basename(name, '.jsonl'), ...(JSON.parse(line) as Omit<Exchange, 'file'>) })),
    );
  return cache;
}

/** The exchange at a place of a recording: `recorded('07', 5)`. */
export function recorded(file: string, at: number): Exchange {
  const found = exchanges().find((exchange) => exchange.file.startsWith(`${file}-`) && exchange.at === at);
  if (found === undefined) throw new Error(`no exchange ${at} in recording ${file}`);
  return found;
}

/** The same body as the answer to another request: for reads that were not recorded just there. */
export function as(exchange: Exchange, method: string, path: string, status = 200): Exchange {
  return { ...exchange, method, path, status };
}
