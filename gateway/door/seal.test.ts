import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openToken, sealToken, type SealBinding } from './seal.ts';

const key = Buffer.alloc(32, 1);
const binding: SealBinding = { tenant: 'local', pair: 'T-1', role: 'forge', workspace: 'ws-1', workspaceGeneration: 1 };

function refuses(work: () => unknown): void {
  expect(work).toThrow(expect.objectContaining({ code: 'token_unsealed' }));
}

describe('[inv-05] a sealed token', () => {
  test('opens for its own binding', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 500 }), (token) => {
        expect(new Uint8Array(openToken(key, binding, sealToken(key, binding, token)))).toEqual(token);
      }),
    );
  });

  test.each<[string, Partial<SealBinding>]>([
    ['tenant', { tenant: 'acme' }],
    ['pair', { pair: 'T-2' }],
    ['role', { role: 'verifier' }],
    ['workspace', { workspace: 'ws-2' }],
    ['workspace generation', { workspaceGeneration: 2 }],
    ['split of its names', { tenant: 'localT', pair: '-1' }],
  ])('does not open for another %s', (_, change) => {
    const sealed = sealToken(key, binding, Buffer.from('token'));
    refuses(() => openToken(key, { ...binding, ...change }, sealed));
  });

  test('does not open under another key, and not with any one bit changed', () => {
    const sealed = sealToken(key, binding, Buffer.from('token'));
    refuses(() => openToken(Buffer.alloc(32, 2), binding, sealed));
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      refuses(() => openToken(key, binding, changed));
    }
    for (let length = 0; length < sealed.length; length += 1) {
      refuses(() => openToken(key, binding, sealed.subarray(0, length)));
    }
  });
});
