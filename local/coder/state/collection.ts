/** Records of one noun: read from memory, written through to the file before the call returns. */
import type { DatabaseSync } from 'node:sqlite';
import type { z } from 'zod';

export interface Collection<R> {
  get(id: string): R | undefined;
  /** In the order in which they were first put. */
  all(): readonly R[];
  /** Those of one group, by the collection's own grouping. */
  of(group: string): readonly R[];
  put(record: R): R;
}

export function collection<R extends { readonly id: string }>(
  database: DatabaseSync,
  kind: string,
  schema: z.ZodType<R>,
  groupOf: (record: R) => string = () => '',
): Collection<R> {
  const records = new Map<string, R>();
  const groups = new Map<string, Map<string, R>>();
  const remember = (record: R) => {
    records.set(record.id, record);
    const group = groupOf(record);
    const members = groups.get(group) ?? new Map<string, R>();
    members.set(record.id, record);
    groups.set(group, members);
  };
  const write = database.prepare(
    'INSERT INTO record (kind, id, body) VALUES (?, ?, ?) ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body',
  );
  for (const row of database.prepare('SELECT body FROM record WHERE kind = ? ORDER BY rowid').all(kind)) {
    remember(schema.parse(JSON.parse(String(row['body']))));
  }
  return {
    get: (id) => records.get(id),
    all: () => [...records.values()],
    of: (group) => [...(groups.get(group)?.values() ?? [])],
    put(record) {
      write.run(kind, record.id, JSON.stringify(record));
      remember(record);
      return record;
    },
  };
}
