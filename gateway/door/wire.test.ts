import proto from '@temporalio/proto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lengthDelimited, wireFields, WireMessage } from './wire.ts';

const { workflowservice } = proto.temporal.api;
const bytes = fc.uint8Array({ maxLength: 300 });

describe('splicing a field', () => {
  test('changes that field and no other, whatever stands around it', () => {
    fc.assert(
      fc.property(bytes, bytes, fc.string(), fc.string(), bytes, (token, other, identity, namespace, data) => {
        const message = { taskToken: token, identity, namespace, result: { payloads: [{ data, metadata: {} }] } };
        const { RespondActivityTaskCompletedRequest } = workflowservice.v1;
        const encoded = RespondActivityTaskCompletedRequest.encode(message).finish();
        const spliced = new WireMessage(encoded).spliced(1, other);
        const expected = RespondActivityTaskCompletedRequest.decode(
          RespondActivityTaskCompletedRequest.encode({ ...message, taskToken: other }).finish(),
        );
        expect(RespondActivityTaskCompletedRequest.decode(spliced)).toEqual(expected);
      }),
    );
  });

  test('keeps fields that the schema does not know, byte for byte and in order', () => {
    fc.assert(
      fc.property(bytes, bytes, bytes, bytes, (token, before, after, other) => {
        const message = [lengthDelimited(9_000, before), lengthDelimited(1, token), lengthDelimited(9_001, after)];
        const spliced = new WireMessage(Buffer.concat(message)).spliced(1, other);
        expect(spliced).toEqual(
          Buffer.concat([lengthDelimited(9_000, before), lengthDelimited(1, other), lengthDelimited(9_001, after)]),
        );
      }),
    );
  });

  test('and splicing back gives the bytes there were', () => {
    fc.assert(
      fc.property(
        bytes.filter((token) => token.length > 0),
        bytes,
        fc.string(),
        (token, other, identity) => {
          const encoded = workflowservice.v1.RecordActivityTaskHeartbeatRequest.encode({
            taskToken: token,
            identity,
          }).finish();
          const there = new WireMessage(encoded).spliced(1, other);
          expect(new Uint8Array(new WireMessage(there).spliced(1, token))).toEqual(new Uint8Array(encoded));
        },
      ),
    );
  });
});

describe('[inv-19] reading a message', () => {
  test('finds the fields that the real decoder finds', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string({ unit: 'grapheme' }), (namespace, queue, identity) => {
        const encoded = workflowservice.v1.PollActivityTaskQueueRequest.encode({
          namespace,
          identity,
          taskQueue: { name: queue, kind: proto.temporal.api.enums.v1.TaskQueueKind.TASK_QUEUE_KIND_NORMAL },
        }).finish();
        const message = new WireMessage(encoded);
        expect(message.textOf(1)).toBe(namespace.toWellFormed());
        expect(message.message(2).textOf(1)).toBe(queue.toWellFormed());
        expect(message.message(2).numberOf(2)).toBe(1);
        expect(message.textOf(3)).toBe(identity.toWellFormed());
      }),
    );
  });

  test('ends in an answer or in schema_invalid for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (any) => {
        try {
          const fields = wireFields(any);
          expect(fields.at(-1)?.end ?? 0).toBe(any.length);
        } catch (error) {
          expect(error).toMatchObject({ code: 'schema_invalid' });
        }
      }),
    );
  });

  test.each([
    [
      'a singular field twice',
      Buffer.concat([lengthDelimited(1, Buffer.from('a')), lengthDelimited(1, Buffer.from('b'))]),
    ],
    ['text that is not UTF-8', lengthDelimited(1, Buffer.of(0xff))],
    ['a number where text is', Buffer.of(8, 1)],
  ])('refuses %s', (_, message) => {
    expect(() => new WireMessage(message).textOf(1)).toThrow(expect.objectContaining({ code: 'schema_invalid' }));
  });

  test.each([
    ['field number 0', Buffer.of(2, 0)],
    ['a group', Buffer.of(11)],
    ['a length beyond the end', Buffer.of(10, 5, 1)],
    ['an overlong varint', Buffer.of(8, 0x81, 0x00)],
    ['a varint of eleven bytes', Buffer.from(`08${'ff'.repeat(10)}01`, 'hex')],
    ['a length of 2^62', Buffer.from('0affffffffffffffff3f', 'hex')],
    ['very many fields', Buffer.alloc(20_000, Buffer.of(8, 1))],
  ])('refuses %s', (_, message) => {
    expect(() => wireFields(message)).toThrow(expect.objectContaining({ code: 'schema_invalid' }));
  });
});
