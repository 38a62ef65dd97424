/**
 * The log of a server part: JSON lines on stderr, with secrets taken out of the finished line, so that it does not matter
 * how one came into it (invariant 15).
 *
 * @example const logger = createLogger({ part: 'gateway', level: 'info' })
 */
import { pino, type DestinationStream, type Logger } from 'pino';
import type { LogLevel } from '../schemas/settings.ts';

export interface LoggerOptions {
  /** Which part speaks. */
  readonly part: string;
  readonly level: LogLevel;
  /** Where lines go; stderr when left out. */
  readonly destination?: DestinationStream;
}

export function createLogger({ part, level, destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: { part, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: redactSecrets },
  };
  return pino(options, destination ?? pino.destination({ dest: 2, sync: true }));
}

const HIDDEN = '[redacted]';

/** Fields whose value is a secret whatever it looks like; compared without dashes and underscores, in lower case. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'codersessiontoken',
  'password',
  'passwords',
  'passphrase',
  'secret',
  'bearer',
  'token',
  'tasktoken',
  'sessiontoken',
  'accesstoken',
  'apikey',
  'claimcode',
  'privatekey',
  'gatewaykey',
  'sealkey',
]);

/** What is a secret wherever it stands. Every repetition is bounded, so that no line takes long. */
const SECRET_TEXT: readonly (readonly [RegExp, string])[] = [
  [/\bpc1\.[A-Za-z0-9._-]{20,400}/g, HIDDEN],
  [/\b(Bearer|Basic)[ \t]{1,8}[A-Za-z0-9._~+/=-]{8,4096}/gi, `$1 ${HIDDEN}`],
  // A password in a URL.
  [/\b([a-z][a-z0-9+.-]{0,15}:\/\/[^\s/:@"]{0,128}):[^\s@"/]{1,256}@/gi, `$1:${HIDDEN}@`],
  [/-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g, HIDDEN],
];

/** The finished line without what looks like a secret or stands in a field that holds one. */
export function redactSecrets(line: string): string {
  const parsed = parsedJson(line);
  return parsed === undefined ? redactedText(line) : `${JSON.stringify(redactedValue(parsed, 0))}\n`;
}

/** Deeper than this nothing is logged: what nests so deep was not written by us. */
const MAX_DEPTH = 12;

function redactedValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactedString(value, depth);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return HIDDEN;
  if (Array.isArray(value)) {
    // Node gives raw headers as a list of names and values in turn.
    return value.map((item: unknown, index) => {
      const before: unknown = value[index - 1];
      return typeof before === 'string' && isSecretField(before) ? HIDDEN : redactedValue(item, depth + 1);
    });
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, isSecretField(name) ? HIDDEN : redactedValue(item, depth + 1)]),
  );
}

/** A body that was logged as text is JSON inside a string. */
function redactedString(text: string, depth: number): string {
  const parsed = /^\s{0,8}[[{]/.test(text) ? parsedJson(text) : undefined;
  return parsed === undefined ? redactedText(text) : JSON.stringify(redactedValue(parsed, depth + 1));
}

function redactedText(text: string): string {
  return SECRET_TEXT.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text);
}

function isSecretField(name: string): boolean {
  return name.length <= 32 && SECRET_FIELDS.has(name.replace(/[-_]/g, '').toLowerCase());
}

function parsedJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
