/**
 * What a turn says on its way, as messages. Each is kept as long as its chat, so a command that never stops talking makes fewer
 * and shorter ones the longer it goes on; it is still heard before anybody takes it for stalled.
 */
import { appended, lastBytes } from '../../../workers/agent/last-bytes.ts';

/** Milliseconds between two messages, and bytes of one: of the first so many, and of all others. */
const OFTEN = { messages: 100, everyMs: 1_000, bytes: 16 * 1024 } as const;
const SELDOM = { everyMs: 60_000, bytes: 1024 } as const;

export class Progress {
  readonly #say: (text: string) => void;
  #text = '';
  #said = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  add(text: string): void {
    this.#text = appended(this.#text, this.#text === '' ? text : `\n${text}`, this.#pace.bytes);
    this.#timer ??= setTimeout(() => this.flush(), this.#pace.everyMs);
  }

  flush(): void {
    this.close();
    const text = lastBytes(this.#text, this.#pace.bytes);
    this.#text = '';
    if (text === '') return;
    this.#said += 1;
    this.#say(text);
  }

  get #pace() {
    return this.#said < OFTEN.messages ? OFTEN : SELDOM;
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
