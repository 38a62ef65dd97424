/**
 * Keeps a key out of a stream: whatever part of an answer is the key, in clear or in base64, is passed on as stars of the same
 * length. What can still become the key is held until it cannot; nothing else waits, so events pass as they come.
 */
const STAR = 0x2a;

export class KeyScrubber {
  readonly #secrets: readonly Buffer[];
  #held: Buffer = Buffer.alloc(0);

  /** `null`: there is nothing to keep out. */
  constructor(key: string | null) {
    this.#secrets = key === null ? [] : formsOf(key);
  }

  /** What can be passed on now. */
  push(part: Uint8Array): Buffer {
    if (this.#secrets.length === 0) return Buffer.from(part);
    const text = Buffer.concat([this.#held, part]);
    for (const secret of this.#secrets) {
      for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length)) {
        text.fill(STAR, at, at + secret.length);
      }
    }
    const kept = Math.max(...this.#secrets.map((secret) => beginningAtEnd(text, secret)));
    this.#held = Buffer.from(text.subarray(text.length - kept));
    return text.subarray(0, text.length - kept);
  }

  /** The rest, once nothing more comes. */
  end(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return rest;
  }

  /** Whether a text has the key in it. */
  has(text: string): boolean {
    const bytes = Buffer.from(text);
    return this.#secrets.some((secret) => bytes.includes(secret));
  }
}

/** The key, and the middle of its base64 at each of the three places that it can begin at. */
function formsOf(key: string): readonly Buffer[] {
  const bytes = Buffer.from(key);
  const encoded = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const from = before === 0 ? 0 : before + 1;
    return Buffer.from(text.slice(from, text.length - ((before + bytes.length) % 3 === 0 ? 0 : 1)));
  });
  return [bytes, ...encoded];
}

/** How many bytes at the end of a text are the beginning of a secret, but not all of it. */
function beginningAtEnd(text: Buffer, secret: Buffer): number {
  for (let length = Math.min(secret.length - 1, text.length); length > 0; length -= 1) {
    if (text.subarray(text.length - length).equals(secret.subarray(0, length))) return length;
  }
  return 0;
}
