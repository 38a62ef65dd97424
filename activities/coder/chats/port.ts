/**
 * Chats of Coder, whose model loop runs inside the server. A port of its own: the API is experimental and changes
 * weekly, so it is bound to the version it was checked against and everything above can do without it.
 */
import type { CallOptions } from '../port.ts';

/** The server version whose answers this was written from (`chats.yaml`). */
export const CHATS_CHECKED_AGAINST = 'v2.36.0';

/** `waiting` is idle, whatever came of the turn: there is no "done". */
export type ChatStatus = 'waiting' | 'running' | 'error' | 'requires_action' | 'interrupting';

export interface ChatState {
  readonly id: string;
  /** As first bound; it stays when the workspace is deleted. Null for none. */
  readonly workspaceId: string | null;
  readonly status: ChatStatus;
  readonly archived: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly lastError: { readonly kind: string; readonly retryable: boolean; readonly message: string } | null;
}

export interface ChatMessage {
  /** Grows: progress is a new id, not a status. */
  readonly id: number;
  readonly role: string;
  /** The text parts, joined; tool calls are left out. */
  readonly text: string;
}

export interface ChatRequest {
  readonly organizationId: string;
  /** Must be alive: the server binds a chat to a deleted workspace without a word. */
  readonly workspaceId: string;
  /** Of a configured model; null takes the server's default. */
  readonly modelConfigId: string | null;
  /** The adoption key: one label that no other chat carries. */
  readonly label: { readonly key: string; readonly value: string };
  /** The first prompt; the turn starts at once. */
  readonly prompt: string;
}

export interface ChatPort {
  /** Looks by label first, since creation has neither a key nor uniqueness. One caller at a time for each label. */
  startOrAdopt(
    request: ChatRequest,
    call?: CallOptions,
  ): Promise<{ readonly how: 'created' | 'adopted'; readonly chat: ChatState }>;

  /** Null when it is absent or not visible. */
  read(chatId: string, call?: CallOptions): Promise<ChatState | null>;

  /** The newest `limit`, newest first. */
  messages(chatId: string, limit: number, call?: CallOptions): Promise<readonly ChatMessage[]>;

  /** `queued` until the running turn ends. */
  send(chatId: string, text: string, call?: CallOptions): Promise<{ readonly queued: boolean }>;

  /** `idle`: nothing ran. A queued message starts the next turn right after, so an interrupt is not a stop. */
  interrupt(chatId: string, call?: CallOptions): Promise<'asked' | 'idle'>;

  /** `active`: refused while a turn runs; interrupt, wait and ask again. */
  archive(chatId: string, call?: CallOptions): Promise<'archived' | 'active' | 'unseen'>;
}

/** Every chat that carries a label, whichever workspace it is bound to: what a teardown has to end. */
export interface ChatLister {
  list(label: { readonly key: string; readonly value: string }, call?: CallOptions): Promise<readonly ChatState[]>;
}
