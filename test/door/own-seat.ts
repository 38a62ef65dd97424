/** A pair of a test's own, seen through a raw client: what an executor with its bearer could send. */
import { status } from '@grpc/grpc-js';
import { onTestFinished } from 'vitest';
import { CODE_TRAILER } from '../../gateway/door/status.ts';
import { executorQueue } from '../../schemas/queues.ts';
import { rawClient, type RawAnswer, type RawClient } from './raw-client.ts';
import { seatOfPair, type DoorStage } from './stage.ts';

/** A client that is closed with the test. */
export function testClient(address: string, bearer: string | null): RawClient {
  const made = rawClient(address, bearer);
  onTestFinished(() => made.close());
  return made;
}

/** gRPC's name of the answer and the code of the catalogue: `NOT_FOUND token_unsealed`. */
export function refusal({ code, trailers }: RawAnswer): string {
  return `${status[code] ?? 'none'} ${trailers.get(CODE_TRAILER).join()}`;
}

/** A pair of its own, with an executor's credential and a client that has it. */
export async function ownSeat(stage: DoorStage, address: string, pair: string) {
  const seat = seatOfPair(pair);
  const { bearer, record } = await stage.credential({ pair });
  return { seat, bearer, record, door: testClient(address, bearer), queue: executorQueue(seat) };
}
