/** Lines of builds and agents. Ids grow over all of them, as in the real server, so `after` means the same everywhere. */
import type { DatabaseSync } from 'node:sqlite';
import { type LogRecord, logRecord } from './records.ts';

export interface LogBook {
  /** `owner` is the build's or the agent's id. */
  append(owner: string, line: Omit<LogRecord, 'id'>): LogRecord;
  /** Oldest first; only ids above `after`. */
  read(owner: string, after: number): readonly LogRecord[];
}

export function logBook(database: DatabaseSync): LogBook {
  const insert = database.prepare('INSERT INTO line (owner, at, source, level, stage, text) VALUES (?, ?, ?, ?, ?, ?)');
  const select = database.prepare(
    'SELECT id, at, source, level, stage, text FROM line WHERE owner = ? AND id > ? ORDER BY id',
  );
  return {
    append(owner, line) {
      const { lastInsertRowid } = insert.run(owner, line.at, line.source, line.level, line.stage, line.text);
      return { id: Number(lastInsertRowid), ...line };
    },
    read: (owner, after) => select.all(owner, after).map((row) => logRecord.parse(row)),
  };
}
