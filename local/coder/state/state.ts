/**
 * Everything the local Coder remembers, in one SQLite file. A write is in the file's log before its caller goes on, so
 * what a client was told survives `kill -9` of the server; a crash of the machine may lose the last moments.
 */
import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { collection } from './collection.ts';
import { logBook } from './logs.ts';
import * as records from './records.ts';

export type State = ReturnType<typeof openState>;

/** `:memory:` keeps nothing. */
export function openState(file: string) {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = NORMAL');
  database.exec('CREATE TABLE IF NOT EXISTS record (kind TEXT, id TEXT, body TEXT, PRIMARY KEY (kind, id))');
  database.exec(
    'CREATE TABLE IF NOT EXISTS line (id INTEGER PRIMARY KEY, owner TEXT, at TEXT, source TEXT, level TEXT, stage TEXT, text TEXT)',
  );
  database.exec('CREATE INDEX IF NOT EXISTS line_owner ON line (owner, id)');
  const meta = collection(database, 'meta', records.metaRecord);
  /** Made at the first start and kept. */
  const fixed = (id: string) => (meta.get(id) ?? meta.put({ id, value: randomUUID() })).value;
  return {
    deploymentId: fixed('deployment'),
    organizationId: fixed('organization'),
    createdAt: (meta.get('created') ?? meta.put({ id: 'created', value: new Date().toISOString() })).value,
    users: collection(database, 'user', records.userRecord),
    tokens: collection(database, 'token', records.tokenRecord, (token) => token.userId),
    files: collection(database, 'file', records.fileRecord),
    versions: collection(database, 'version', records.versionRecord),
    templates: collection(database, 'template', records.templateRecord),
    workspaces: collection(database, 'workspace', records.workspaceRecord, (workspace) => workspace.ownerId),
    builds: collection(database, 'build', records.buildRecord, (build) => build.workspaceId),
    agents: collection(database, 'agent', records.agentRecord, (agent) => agent.buildId),
    providers: collection(database, 'provider', records.providerRecord),
    models: collection(database, 'model', records.modelRecord),
    chats: collection(database, 'chat', records.chatRecord),
    messages: collection(database, 'message', records.messageRecord, (message) => message.chatId),
    audit: collection(database, 'audit', records.auditRecord),
    logs: logBook(database),
    /** When this state was last known to be served; ISO time, null for a new one. */
    aliveUntil: () => meta.get('alive')?.value ?? null,
    alive: (at: string) => void meta.put({ id: 'alive', value: at }),
    close: () => database.close(),
  };
}
