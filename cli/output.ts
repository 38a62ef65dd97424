/**
 * What a command prints: data on stdout, progress and errors on stderr. With `--json` the data is one object that begins
 * `{"schema":"portcullis/v1","kind":…`.
 */
import { inspect, styleText } from 'node:util';
import { asPortcullisError, type PortcullisError } from '../schemas/errors.ts';
import { harmless, jsonLine } from './printable.ts';

export const OUTPUT_SCHEMA = 'portcullis/v1';

export interface OutputOptions {
  readonly json: boolean;
  readonly debug: boolean;
  /** Colours: only on a terminal, never with NO_COLOR or `--no-color`. */
  readonly color: boolean;
}

export type Style = 'good' | 'bad' | 'warn' | 'dim' | 'strong';

export interface Output {
  readonly json: boolean;
  /** The command's answer: the object with `--json`, otherwise the text for people. */
  result(kind: string, value: Readonly<Record<string, unknown>>, text: string): void;
  /** One object of a stream, for commands that go on printing. */
  line(kind: string, value: Readonly<Record<string, unknown>>, text: string): void;
  /** Raw bytes of a stored stream. */
  raw(bytes: Uint8Array): void;
  /** One line of progress. */
  progress(text: string): void;
  /** The error as code, sentence and what to do; its exit code. */
  error(thrown: unknown): number;
  style(style: Style, text: string): string;
}

export interface Streams {
  readonly stdout: { write(chunk: string | Uint8Array): unknown };
  readonly stderr: { write(chunk: string): unknown };
}

const FORMATS = { good: 'green', bad: 'red', warn: 'yellow', dim: 'gray', strong: 'bold' } as const;

export function createOutput(options: OutputOptions, streams: Streams = process): Output {
  const { stdout, stderr } = streams;
  const style = (name: Style, text: string) =>
    options.color ? styleText(FORMATS[name], text, { validateStream: false }) : text;
  const print = (kind: string, value: Readonly<Record<string, unknown>>, text: string) => {
    if (options.json) stdout.write(`${jsonLine({ schema: OUTPUT_SCHEMA, kind, ...value })}\n`);
    else if (text !== '') stdout.write(harmless(text.endsWith('\n') ? text : `${text}\n`, options.color));
  };
  return {
    json: options.json,
    result: print,
    line: print,
    raw: (bytes) => void stdout.write(bytes),
    progress: (text) => void stderr.write(`${harmless(text, options.color)}\n`),
    style,
    error(thrown) {
      const error = asPortcullisError(thrown);
      const { code, message, mend } = error;
      if (options.json) print('Error', { code, message, mend, exit: error.edge.exit }, '');
      stderr.write(harmless(`${style('bad', `error ${code}`)}: ${message}\n${mend}\n`, options.color));
      if (options.debug) stderr.write(harmless(`${stackOf(error)}\n`, false));
      return error.edge.exit;
    },
  };
}

/** Whether to colour: what the flag says, then NO_COLOR, then whether stdout is a terminal. */
export function wantsColor(
  flag: boolean,
  environment: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  const { NO_COLOR, TERM } = environment;
  if (!flag || (NO_COLOR !== undefined && NO_COLOR !== '') || TERM === 'dumb') return false;
  return isTerminal;
}

/** Columns padded to the widest cell, two spaces apart. A cell is one line: what breaks lines in it would be a row of somebody else's. */
export function table(given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map((cell) => cell.replace(/[\r\n\t]/g, '\ufffd')));
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  const padded = rows.map((row) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))),
  );
  return padded.map((row) => row.join('  ').trimEnd()).join('\n');
}

/** A stretch of time for people. @example duration(95_000) // '1 m 35 s' */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} m`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
}

function stackOf(error: PortcullisError): string {
  return inspect(error, { depth: 4 });
}
