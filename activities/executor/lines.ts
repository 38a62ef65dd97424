/** Cuts a stream of bytes into lines for the counters, with a bound on the length of one. */
export interface LineReader {
  write(bytes: Uint8Array): void;
  end(): void;
}

/** Longer lines are dropped and `onLost` is called: whoever counts must then say that it does not know. */
const MAX_LINE = 1024 * 1024;

export function createLineReader(onLine: (line: string) => void, onLost: () => void): LineReader {
  // Not fatal: a binary stream is cut at its newlines like any other.
  const decoder = new TextDecoder('utf-8');
  let rest = '';
  let overlong = false;

  function take(text: string): void {
    const parts = text.split('\n');
    const last = parts.pop() ?? '';
    for (const [index, part] of parts.entries()) {
      const line = index === 0 ? rest + part : part;
      if (index === 0) rest = '';
      if (index === 0 && overlong) overlong = false;
      else onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
    }
    if (overlong) return;
    rest += last;
    if (rest.length <= MAX_LINE) return;
    rest = '';
    overlong = true;
    onLost();
  }

  return {
    write: (bytes) => take(decoder.decode(bytes, { stream: true })),
    end: () => {
      take(decoder.decode());
      if (rest !== '') onLine(rest);
      rest = '';
    },
  };
}
