/**
 * Past events of tasks, read in blocks that everybody shares: a thousand subscribers that come back at once cost the store,
 * and this process's time, a few reads and not a thousand. An event never changes, so a whole block may be kept.
 */
import type { NumberedTaskEvent } from '../../schemas/verify/task.ts';
import type { FeedSource } from './feed.ts';

/** Events of a block, and blocks that are kept: some megabytes in all. */
const BLOCK = 256;
const KEPT_BLOCKS = 64;

type Block = Promise<readonly NumberedTaskEvent[]>;

export class PastEvents {
  readonly #source: Pick<FeedSource, 'readEvents'>;
  readonly #blocks = new Map<string, Block>();

  constructor(source: Pick<FeedSource, 'readEvents'>) {
    this.#source = source;
  }

  /**
   * Some of the events after a number, in order and without a gap: all there are in its block. None when there were none
   * as the block was read, which may have been a moment ago. @throws what the source throws
   */
  async after(tenant: string, task: string, seq: number): Promise<readonly NumberedTaskEvent[]> {
    const begin = Math.floor(seq / BLOCK) * BLOCK;
    const events = await this.#block(tenant, task, begin);
    return begin === seq ? events : events.filter((numbered) => numbered.seq > seq);
  }

  #block(tenant: string, task: string, begin: number): Block {
    const key = `${tenant}/${task}/${begin}`;
    const known = this.#blocks.get(key);
    if (known !== undefined) return known;
    const block = this.#source.readEvents(tenant, task, begin, BLOCK);
    this.#blocks.set(key, block);
    const forget = () => {
      if (this.#blocks.get(key) === block) this.#blocks.delete(key);
    };
    // What is not whole may be longer at the next look.
    block.then((events) => {
      if (events.at(-1)?.seq !== begin + BLOCK) forget();
    }, forget);
    const [oldest] = this.#blocks.keys();
    if (this.#blocks.size > KEPT_BLOCKS && oldest !== undefined) this.#blocks.delete(oldest);
    return block;
  }
}
