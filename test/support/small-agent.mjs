/**
 * The smallest CLI of an agent: `node small-agent.mjs`, the prompt on standard input. It asks the model at `ANTHROPIC_BASE_URL`
 * over events, runs what the model's one tool is called with, hands the output back, and prints what the model says last.
 */
import { execFile } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

const run = promisify(execFile);
const BASE = process.env.ANTHROPIC_BASE_URL ?? '';
const TOKEN = process.env.ANTHROPIC_AUTH_TOKEN ?? '';
const tools = [{ name: 'bash', description: 'runs a command', input_schema: { type: 'object' } }];
const messages = [{ role: 'user', content: await text(process.stdin) }];

for (let turns = 0; turns < 8; turns += 1) {
  const content = await ask();
  messages.push({ role: 'assistant', content });
  const calls = content.filter(({ type }) => type === 'tool_use');
  if (calls.length === 0) {
    process.stdout.write(`${content.map((block) => block.text).join('')}\n`);
    process.exit(0);
  }
  const results = await Promise.all(
    calls.map(async ({ id, input }) => ({ type: 'tool_result', tool_use_id: id, content: await shell(input.command) })),
  );
  messages.push({ role: 'user', content: results });
}
process.stderr.write('the model went on and on\n');
process.exit(1);

/** The blocks of one answer, put together from its events. */
async function ask() {
  const answer = await fetch(`${BASE}/v1/messages?beta=true`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify({ model: 'small', max_tokens: 1000, stream: true, tools, messages }),
  });
  if (!answer.ok) {
    process.stderr.write(`the model answered ${answer.status}: ${await answer.text()}\n`);
    process.exit(1);
  }
  const blocks = [];
  for (const event of (await answer.text()).split('\n\n')) {
    const line = event.split('\n').find((one) => one.startsWith('data: '));
    if (line === undefined) continue;
    const { type, content_block: block, delta } = JSON.parse(line.slice('data: '.length));
    if (type === 'content_block_start') blocks.push({ ...block, json: '' });
    const last = blocks.at(-1);
    if (delta?.type === 'text_delta') last.text += delta.text;
    if (delta?.type === 'input_json_delta') last.json += delta.partial_json;
  }
  return blocks.map(({ json, ...block }) => (json === '' ? block : { ...block, input: JSON.parse(json) }));
}

async function shell(command) {
  try {
    const { stdout, stderr } = await run('sh', ['-c', command]);
    return stdout + stderr;
  } catch (error) {
    return `${error.stdout ?? ''}${error.stderr ?? ''}`;
  }
}
