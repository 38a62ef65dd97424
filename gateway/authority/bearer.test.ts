import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bearerOf, makeBearer, parseBearer } from './bearer.ts';

const key = Buffer.alloc(32, 1);
function refuses(work: () => unknown): void {
  expect(work).toThrow(expect.objectContaining({ code: 'unauthenticated' }));
}

describe('[inv-05] a bearer', () => {
  test('says whose it is, also for a tenant with dots', () => {
    const tenant = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
    const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
    fc.assert(
      fc.property(tenant, id, (ofTenant, ofId) => {
        expect(parseBearer(key, makeBearer(key, ofTenant, ofId))).toEqual({ tenant: ofTenant, id: ofId });
      }),
    );
  });

  test('is refused under another key, for another tenant or id, and with another last character', () => {
    const bearer = makeBearer(key, 'local', 'c1');
    refuses(() => parseBearer(Buffer.alloc(32, 2), bearer));
    refuses(() => parseBearer(key, bearer.replace('.local.', '.acme.')));
    refuses(() => parseBearer(key, bearer.replace('.c1.', '.c2.')));
    for (const last of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_') {
      const changed = bearer.slice(0, -1) + last;
      if (changed !== bearer) refuses(() => parseBearer(key, changed));
    }
  });

  test.each(['', 'pc1', 'pc1...', 'pc2.local.c1.x', `pc1.local.c1.${'A'.repeat(500)}`, 'pc1.local.c1.\n'])(
    'is refused when it reads %j',
    (text) => {
      refuses(() => parseBearer(key, text));
    },
  );

  test('comes in an Authorization header, one and no more', () => {
    expect(bearerOf('Bearer abc')).toBe('abc');
    for (const header of [undefined, '', 'abc', 'Basic abc', 'Bearer ', 'Bearer a b', 'Bearer a, Bearer b']) {
      refuses(() => bearerOf(header));
    }
  });
});
