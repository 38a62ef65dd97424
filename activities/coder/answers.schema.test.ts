/** What the adapter reads, over every recorded answer of its kind. */
import { expect, expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import { type Exchange, exchanges, recorded } from '../../test/coder/recordings.ts';
import {
  agentLogsAnswer,
  buildAnswer,
  buildLogsAnswer,
  parameterValuesAnswer,
  serverAnswer,
  templateAnswer,
  templateParametersAnswer,
  workspaceAnswer,
  workspacePageAnswer,
} from './answers.schema.ts';
import { chatAnswer, chatListAnswer, messagesAnswer, sentAnswer } from './chats/answers.schema.ts';
import type { components as ChatComponents } from './openapi/chats.ts';
import type { components as CoderComponents } from './openapi/coder.ts';

const ID = '[0-9a-f-]{36}';
const READERS: readonly (readonly [name: string, call: RegExp, schema: z.ZodType])[] = [
  [
    'workspace',
    new RegExp(`^(GET /api/v2/workspaces/${ID}|GET .*/workspace/[^/]+|POST .*/workspaces)$`),
    workspaceAnswer,
  ],
  ['page of workspaces', /^GET \/api\/v2\/workspaces$/, workspacePageAnswer],
  ['build', new RegExp(`^(GET /api/v2/workspacebuilds/${ID}|POST .*/builds)$`), buildAnswer],
  ['build parameters', /^GET .*workspacebuilds.*\/parameters$/, parameterValuesAnswer],
  ['template', /^GET .*\/templates\/[^/]+$/, templateAnswer],
  ['template parameters', /^GET .*\/rich-parameters$/, templateParametersAnswer],
  ['build info', /^GET .*\/buildinfo$/, serverAnswer],
  ['build log', /^GET .*workspacebuilds.*\/logs$/, buildLogsAnswer],
  ['agent log', /^GET .*workspaceagents.*\/logs$/, agentLogsAnswer],
  [
    'chat',
    new RegExp(`^(GET /api/experimental/chats/${ID}|POST /api/experimental/chats|POST .*/interrupt)$`),
    chatAnswer,
  ],
  ['list of chats', /^GET \/api\/experimental\/chats$/, chatListAnswer],
  ['messages', /^GET .*\/messages$/, messagesAnswer],
  ['sent message', /^POST .*\/messages$/, sentAnswer],
];

test.each(READERS)('every recorded %s is read', (_, call, schema) => {
  const answers = exchanges().filter((exchange) => call.test(callOf(exchange)) && isJson(exchange));
  expect(answers.length).toBeGreaterThan(0);
  for (const { file, at, body } of answers) {
    expect(schema.safeParse(body).error?.issues, `${file} ${at}`).toBeUndefined();
  }
});

test('what a build is, is told in our words', () => {
  expect(workspaceAnswer.parse(recorded('01', 11).body)).toMatchObject({
    name: 'forge-t42-a',
    ownerName: 'operator',
    ttlMs: 1_800_000,
    build: {
      number: 1,
      transition: 'start',
      job: 'succeeded',
      deadline: '2026-11-30T22:18:06.999625Z',
      agents: [{ name: 'main', parentId: null, status: 'connected', lifecycle: 'ready' }],
    },
  });
});

test('autostop that is off is null, though the server leaves the field out', () => {
  const workspace = workspaceAnswer.parse(recorded('03', 8).body);
  expect([workspace.ttlMs, workspace.build.deadline]).toEqual([null, null]);
});

test('a failed job keeps its sentence for people', () => {
  expect(buildAnswer.parse(recorded('05', 2).body)).toMatchObject({ job: 'failed', transition: 'start' });
  expect(buildAnswer.parse(recorded('05', 2).body).jobError).not.toBe('');
});

type Coder = CoderComponents['schemas'];
type Chats = ChatComponents['schemas'];
type Mutable<T> = T extends object ? { -readonly [Key in keyof T]: Mutable<T[Key]> } : T;

/** Checked by the compiler: fields, nulls and enumerations of a document are all that its reader needs and knows. */
test('what the documents promise is what the readers take', () => {
  expectTypeOf<Mutable<Coder['Workspace']>>().toExtend<z.input<typeof workspaceAnswer>>();
  expectTypeOf<Mutable<Coder['WorkspacePage']>>().toExtend<z.input<typeof workspacePageAnswer>>();
  expectTypeOf<Mutable<Coder['Build']>>().toExtend<z.input<typeof buildAnswer>>();
  expectTypeOf<Mutable<Coder['Template']>>().toExtend<z.input<typeof templateAnswer>>();
  expectTypeOf<Mutable<Coder['TemplateParameter'][]>>().toExtend<z.input<typeof templateParametersAnswer>>();
  expectTypeOf<Mutable<Coder['BuildInfo']>>().toExtend<z.input<typeof serverAnswer>>();
  expectTypeOf<Mutable<Coder['BuildLog'][]>>().toExtend<z.input<typeof buildLogsAnswer>>();
  expectTypeOf<Mutable<Coder['AgentLog'][]>>().toExtend<z.input<typeof agentLogsAnswer>>();
  expectTypeOf<Mutable<Chats['Chat']>>().toExtend<z.input<typeof chatAnswer>>();
  expectTypeOf<Mutable<Chats['Messages']>>().toExtend<z.input<typeof messagesAnswer>>();
  expectTypeOf<Mutable<Chats['Sent']>>().toExtend<z.input<typeof sentAnswer>>();
});

function callOf({ method, path }: Exchange): string {
  return `${method} ${path.split('?')[0] ?? ''}`;
}

function isJson({ status, body }: Exchange): boolean {
  return status < 300 && typeof body === 'object';
}
