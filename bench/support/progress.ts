/** Says on stderr what a benchmark is doing; stdout is for its results. */

const started = performance.now();

/** One line, with the seconds since the run began. */
export function progress(text: string): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stderr.write(`${seconds.padStart(6)} s  ${text}\n`);
}
