/** What the compatibility suite expects of the agent under test, by the beginning of a messageId. */
import { TaskState, type Part } from '@a2a-js/sdk';

/** One thing that happens to a task. */
export type Step =
  | { readonly kind: 'status'; readonly state: TaskState; readonly text?: string }
  | { readonly kind: 'artifact'; readonly part: Part; readonly append?: boolean; readonly last?: boolean }
  | { readonly kind: 'wait'; readonly ms: number };

/** `null`: the answer is a message, and there is no task. */
export type Scenario = readonly Step[] | null;

const status = (state: TaskState, text?: string): Step => ({
  kind: 'status',
  state,
  ...(text === undefined ? {} : { text }),
});
const working = status(TaskState.TASK_STATE_WORKING);
const completed = status(TaskState.TASK_STATE_COMPLETED);
const needsInput = status(TaskState.TASK_STATE_INPUT_REQUIRED);
const artifact = (part: Part, more: { readonly append?: boolean; readonly last?: boolean } = {}): Step => ({
  kind: 'artifact',
  part,
  ...more,
});

export function textPart(value: string): Part {
  return { content: { $case: 'text', value }, mediaType: 'text/plain', filename: '', metadata: undefined };
}

const FILE: Part = {
  content: { $case: 'raw', value: Buffer.from('tck') },
  mediaType: 'text/plain',
  filename: 'output.txt',
  metadata: undefined,
};
const FILE_URL: Part = {
  content: { $case: 'url', value: 'https://example.com/output.txt' },
  mediaType: 'text/plain',
  filename: 'output.txt',
  metadata: undefined,
};
const DATA: Part = {
  content: { $case: 'data', value: { key: 'value', count: 42 } },
  mediaType: 'application/json',
  filename: '',
  metadata: undefined,
};

const streamed = (part: Part): Scenario => [working, artifact(part), completed];

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'tck-complete-task': [status(TaskState.TASK_STATE_COMPLETED, 'Hello from TCK')],
  'tck-artifact-text': [artifact(textPart('Generated text content')), completed],
  'tck-artifact-file': [artifact(FILE), completed],
  'tck-artifact-file-url': [artifact(FILE_URL), completed],
  'tck-artifact-data': [artifact(DATA), completed],
  'tck-message-response': null,
  'tck-input-required': [needsInput],
  'tck-reject-task': [status(TaskState.TASK_STATE_REJECTED, 'rejected')],
  'tck-stream-001': streamed(textPart('Stream hello from TCK')),
  'tck-stream-002': [completed],
  'tck-stream-003': streamed(textPart('Stream task lifecycle')),
  'tck-stream-ordering-001': streamed(textPart('Ordered output')),
  'tck-stream-artifact-text': streamed(textPart('Streamed text content')),
  'tck-stream-artifact-file': streamed(FILE),
  'tck-stream-artifact-chunked': [
    working,
    artifact(textPart('chunk-1 ')),
    artifact(textPart('chunk-2'), { append: true, last: true }),
    completed,
  ],
  // Twice the time that the suite gives a stream.
  'test-resubscribe-message-id': [working, { kind: 'wait', ms: 4_000 }, completed],
};

/** The scenario with the longest prefix that fits: one name begins another. */
export function scenarioOf(messageId: string): Scenario {
  const fitting = Object.keys(SCENARIOS).filter((prefix) => messageId.startsWith(prefix));
  const [longest] = fitting.toSorted((a, b) => b.length - a.length);
  const found = longest === undefined ? undefined : SCENARIOS[longest];
  return found === undefined ? [completed] : found;
}
