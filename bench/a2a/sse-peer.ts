/** Starts the bare SSE server in a process of its own, as the gateway is in one of its own. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface SsePeer {
  readonly url: string;
  seq(): number;
  append(count: number): Promise<number>;
  close(): void;
}

export async function startSsePeer(): Promise<SsePeer> {
  const program = fileURLToPath(new URL('./bare-sse.ts', import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const url = `http://127.0.0.1:${await firstLine(child.stdout)}`;
  let seq = 0;
  return {
    url,
    seq: () => seq,
    async append(count) {
      const response = await fetch(url, { method: 'POST', body: String(count) });
      return (seq = Number(await response.text()));
    },
    close: () => child.stdin.end(),
  };
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stream })) return line;
  throw new Error('the bare SSE server did not start');
}
