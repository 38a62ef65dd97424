/** A history as it is committed: nothing in it names the machine that recorded it. */
import { homedir, hostname } from 'node:os';
import protoUtils from '@temporalio/common/lib/proto-utils.js';
import type { History } from '@temporalio/common/lib/proto-utils.js';

/**
 * The text of the file.
 *
 * @param inputs what activities were given: no replay compares it, and it is half of a ticket's history
 * @throws when something in the history still names this machine
 */
export function historyText(history: History, workflowId: string, inputs: 'kept' | 'left out'): string {
  const kept = inputs === 'kept' ? keptOf : (key: string, value: unknown) => withoutInput(key, keptOf(key, value));
  const recorded = JSON.parse(protoUtils.historyToJSON(history), kept) as { readonly events: readonly object[] };
  // A server that skips time leaves it out, and some workflows read it.
  const started: unknown = Reflect.get(Object(recorded.events[0]), 'workflowExecutionStartedEventAttributes');
  Object.assign(Object(started), { workflowId });
  const traces = machineTraces(recorded);
  if (traces.length > 0) throw new Error(`the history names this machine: ${traces.join(', ')}`);
  // An event a line: half the size of indented text, and a difference still shows which event it is.
  return `{"events":[\n${recorded.events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`;
}

/** Other for each recording, and read by no replay. */
const NOISE = new Set(['taskId', 'requestId', 'workerVersion', 'userMetadata']);

/** Drops what names the recording machine, and what a replay does not read. */
function keptOf(key: string, value: unknown): unknown {
  if (NOISE.has(key)) return undefined;
  if (key === 'stackTrace') return '';
  if (key === 'identity') return 'recorder';
  // Sticky queues are named after process and host.
  if (typeof value === 'string' && /^\d+@/.test(value)) return 'recorder';
  return value;
}

function withoutInput(key: string, value: unknown): unknown {
  return key === 'activityTaskScheduledEventAttributes' ? { ...Object(value), input: undefined } : value;
}

const PATHS =
  /(?:(?<![\w.:/~-])|(?<=file:\/\/))\/(?:home|root|tmp|private|work|workspaces?|var|opt|srv|mnt|Users)\/[\w.-]+/g;
const SECRETS = /-----BEGIN [A-Z ]*KEY|\bpc1\.[\w-]+\.[\w-]+\.[\w-]{20,}|\bBearer [\w.-]{20,}/g;

/** Paths, host names and secrets in the strings of a history, its payloads included. */
export function machineTraces(history: unknown): readonly string[] {
  const names = [hostname(), homedir()].filter((name) => name.length > 4 && name !== 'localhost');
  return [
    ...new Set(
      stringsOf(history).flatMap((text) => [
        ...(text.match(PATHS) ?? []),
        ...(text.match(SECRETS) ?? []),
        ...names.filter((name) => text.includes(name)),
      ]),
    ),
  ];
}

/** Each string as it is, and a payload's `data` as it reads when it is text. */
function stringsOf(value: unknown, key = ''): readonly string[] {
  if (typeof value === 'string') return key === 'data' ? [Buffer.from(value, 'base64').toString('utf8')] : [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => stringsOf(inner, Array.isArray(value) ? key : name));
}
