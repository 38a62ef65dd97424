import { expect, test } from 'vitest';
import { describeStores } from '../support/store-kinds.ts';
import { useStoreStage } from '../support/store-stage.ts';
import { admitted } from '../support/task-fixtures.ts';

describeStores('output of a task', ({ program }) => {
  const stage = useStoreStage(program);
  let pairs = 0;
  /** A pair of its own for each test. */
  const nextPair = () => `T-${(pairs += 1)}`;

  test('is write-once and read back in order', async () => {
    const { gateway } = stage();
    const pair = nextPair();
    const { taskId } = (await admitted(gateway, { pair })).accepted;
    const bytes = [Buffer.from([0, 255, 10]), Buffer.from('b'), Buffer.from('c')];
    for (const [index, chunk] of bytes.entries()) {
      expect(await gateway.writeChunk('local', taskId, 'stdout', index, chunk)).toBe(true);
    }
    expect(await gateway.writeChunk('local', taskId, 'stdout', 1, Buffer.from('b'))).toBe(true);
    expect(await gateway.writeChunk('local', taskId, 'stdout', 1, Buffer.from('x'))).toBe(false);
    expect(await chunksOf(gateway.readOutput('local', taskId, 'stdout'))).toEqual(bytes);
    expect(await chunksOf(gateway.readOutput('local', taskId, 'stderr'))).toEqual([]);
  });

  test('[inv-19] is bounded in bytes and in chunks, and only for tasks that exist', async () => {
    const { gateway } = stage();
    const pair = nextPair();
    const { taskId } = (await admitted(gateway, { pair })).accepted;
    expect(await gateway.writeChunk('local', taskId, 'stderr', 0, new Uint8Array(1024 * 1024))).toBe(true);
    const limit = { code: 'limit' };
    await expect(gateway.writeChunk('local', taskId, 'stderr', 1, Buffer.from('x'))).rejects.toMatchObject(limit);
    await expect(gateway.writeChunk('local', taskId, 'stdout', 4096, Buffer.from('x'))).rejects.toMatchObject(limit);
    await expect(gateway.writeChunk('local', 'nothing', 'stdout', 0, Buffer.from('x'))).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

async function chunksOf(stream: AsyncIterable<Uint8Array>): Promise<readonly Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}
