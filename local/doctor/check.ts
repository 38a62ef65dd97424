/** One finding of `portcullis doctor`. */
export interface Check {
  /** Stable name, for `--json`. */
  readonly name: string;
  /** `fail`: something needed does not work. `warn`: an operator should look. `skip`: cannot be told now. */
  readonly status: 'ok' | 'warn' | 'fail' | 'skip';
  /** What was found. */
  readonly found: string;
  /** How to mend it; empty when there is nothing to mend. */
  readonly mend: string;
}

export const ok = (name: string, found: string): Check => ({ name, status: 'ok', found, mend: '' });
export const warn = (name: string, found: string, mend: string): Check => ({ name, status: 'warn', found, mend });
export const fail = (name: string, found: string, mend: string): Check => ({ name, status: 'fail', found, mend });
export const skip = (name: string, found: string): Check => ({ name, status: 'skip', found, mend: '' });
