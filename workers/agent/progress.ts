/** Lines that come together are told together: what a command says to the side costs whoever hears it no more than a command can. */
import { appended, lastBytes } from './last-bytes.ts';
import { MAX_PROGRESS_BYTES } from './protocol.ts';

/** Lines within so many milliseconds are one. */
const TOGETHER_MS = 200;

export interface Gathered {
  add(line: string): void;
  /** Tells what is left. */
  close(): void;
}

/** @param tell is given lines, the last of them where they are more than {@link MAX_PROGRESS_BYTES} */
export function gathered(tell: (text: string) => void): Gathered {
  let lines = '';
  let timer: NodeJS.Timeout | null = null;
  const flush = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const text = lastBytes(lines, MAX_PROGRESS_BYTES);
    lines = '';
    if (text.trim() !== '') tell(text);
  };
  return {
    add(line) {
      lines = appended(lines, lines === '' ? line : `\n${line}`, MAX_PROGRESS_BYTES);
      timer ??= setTimeout(flush, TOGETHER_MS);
    },
    close: flush,
  };
}
