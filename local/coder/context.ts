/** What every part of the local Coder works with. */
import { EventEmitter } from 'node:events';
import type { BuildQueue } from './builds/queue.ts';
import type { Frames } from './chats/frames.ts';
import type { ChatTurns } from './chats/turns.ts';
import type { Clock } from './clock.ts';
import type { WorkspaceRuntime } from './runtime.ts';
import type { LocalCoderSettings } from './settings.ts';
import type { State } from './state/state.ts';

export interface LocalCoderContext {
  readonly settings: LocalCoderSettings;
  readonly clock: Clock;
  readonly state: State;
  readonly runtime: WorkspaceRuntime;
  readonly changes: Changes;
  readonly queue: BuildQueue;
  readonly turns: ChatTurns;
  readonly frames: Frames;
  /** Aborted when the server ends. */
  readonly ending: AbortSignal;
}

/** Says that something about a workspace or a chat has changed; what, is read again. */
export interface Changes {
  say(id: string): void;
  /** Calls until the returned function is called. */
  hear(id: string, call: () => void): () => void;
}

export function changes(): Changes {
  const emitter = new EventEmitter();
  emitter.setMaxListeners(0);
  return {
    say: (id) => void emitter.emit(id),
    hear(id, call) {
      emitter.on(id, call);
      return () => emitter.off(id, call);
    },
  };
}
