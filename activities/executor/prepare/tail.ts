/** The end of what a preparation's tool printed, for the reason of its failure. */
export interface Tail {
  write(bytes: Uint8Array): void;
  /** The last lines, printable, on one line. */
  text(): string;
}

const KEPT = 4096;

export function createTail(): Tail {
  let kept = '';
  return {
    write(bytes) {
      kept = (kept + Buffer.from(bytes).toString('latin1')).slice(-KEPT);
    },
    text: () =>
      kept
        .split('\n')
        // Without control characters, and without what is left of colours then.
        .map((line) =>
          line
            .replace(/[^\x20-\x7e]/g, '')
            .replace(/\[\d+(?:;\d+)*m/g, '')
            .trim(),
        )
        // npm ends with where its log lies, which nobody will see.
        .filter((line) => line !== '' && !/complete log of this run|^npm (?:error|ERR!)$/.test(line))
        .slice(-8)
        .join(' | '),
  };
}
