import { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { Connections } from './connections.ts';

const LIMITS = { unprovenConnections: 3, provenConnections: 8, credentialConnections: 6, workspaceConnections: 4 };

function opened() {
  const connections = new Connections(LIMITS);
  const sockets = new Map<string, Socket>();
  const add = (transport: 'tcp' | 'unix' = 'tcp') => {
    const socket = new Socket();
    const name = connections.add(socket, transport);
    sockets.set(name, socket);
    return name;
  };
  /** So many proven by one credential, oldest first. */
  const prove = (credential: string, count: number, transport: 'tcp' | 'unix' = 'tcp') =>
    Array.from({ length: count }, () => {
      const name = add(transport);
      connections.prove(name, credential);
      return name;
    });
  const open = (names: readonly string[]) => names.filter((name) => connections.isOpen(name));
  return { connections, sockets, add, prove, open };
}

describe('[inv-19] whoever opens connections with its own bearer', () => {
  test('ends its own oldest one when it has too many, on the socket of workspaces sooner', () => {
    const { prove, open, sockets } = opened();
    const other = prove('local/other', 1);
    const own = prove('local/a', LIMITS.credentialConnections + 2);
    expect(open(own)).toEqual(own.slice(2));
    expect(sockets.get(own[0] ?? '')?.destroyed).toBe(true);
    expect(open(other)).toEqual(other);
    const inside = prove('local/a', LIMITS.workspaceConnections + 1, 'unix');
    expect(open(inside)).toEqual(inside.slice(1));
  });

  test('keeps nobody out who holds fewer, once all are taken: the oldest of whoever holds most ends', () => {
    const { prove, open } = opened();
    const most = prove('local/a', 6);
    const some = prove('local/b', 2);
    const fresh = prove('local/c', 3);
    expect(open(fresh)).toEqual(fresh);
    expect(open(some)).toEqual(some);
    expect(open(most)).toEqual(most.slice(3));
    // Each holds as much as this one would: it gives up one of its own.
    const more = prove('local/c', 1);
    expect(open([...fresh, ...more])).toEqual([...fresh.slice(1), ...more]);
    expect(open(most)).toHaveLength(3);
  });

  test('is refused only when everybody has one', () => {
    const { prove, open } = opened();
    const all = Array.from({ length: LIMITS.provenConnections }, (_, n) => prove(`local/${n}`, 1)).flat();
    expect(open(prove('local/late', 1))).toEqual([]);
    expect(open(all)).toEqual(all);
  });

  test('has nothing of it once its credential is revoked', () => {
    const { connections, prove, add, open } = opened();
    const revoked = prove('local/a', 4);
    const good = prove('local/b', 1);
    connections.disprove('local/a');
    expect(revoked.some((name) => connections.isProven(name))).toBe(false);
    for (let n = 0; n < LIMITS.unprovenConnections; n += 1) add();
    expect(open([...revoked, ...good])).toEqual(good);
  });
});

test('what is closed is counted no more', () => {
  const { connections, sockets, prove, open } = opened();
  const own = prove('local/a', LIMITS.credentialConnections);
  const [first = ''] = own;
  sockets.get(first)?.emit('close');
  expect(connections.isOpen(first)).toBe(false);
  const [next = ''] = prove('local/a', 1);
  expect(open(own)).toEqual(own.slice(1));
  expect(connections.isProven(next)).toBe(true);
});
