import { expect, test } from 'vitest';
import { tellTickets, type OpenTicket, type TellDependencies } from './tell-tickets.ts';

const NOTICE = { reason: 'drill', by: 'c-op' };

interface Told extends TellDependencies {
  readonly told: string[];
  readonly forgotten: string[];
}

/** Open tickets by tenant; those whose name begins with `dead` have no workflow any more. */
function open(byTenant: Readonly<Record<string, readonly string[]>>): Told {
  const told: string[] = [];
  const forgotten: string[] = [];
  const name = ({ tenant, ticket }: OpenTicket) => `${tenant}/${ticket}`;
  return {
    told,
    forgotten,
    tenants: Object.keys(byTenant),
    openTickets: (tenant) => Promise.resolve((byTenant[tenant] ?? []).toSorted()),
    tellTicket: (of, notice) => {
      expect(notice).toEqual(NOTICE);
      if (of.ticket.startsWith('dead')) return Promise.resolve(false);
      told.push(name(of));
      return Promise.resolve(true);
    },
    forgetTicket: (of) => Promise.resolve(void forgotten.push(name(of))),
  };
}

async function tellAll(needs: Told, scope: string | null): Promise<{ pages: number; told: number }> {
  let after: string | null = null;
  let pages = 0;
  let told = 0;
  do {
    const page: Awaited<ReturnType<typeof tellTickets>> = await tellTickets(needs, { scope, ...NOTICE, after });
    pages += 1;
    told += page.told;
    after = page.next;
  } while (after !== null);
  return { pages, told };
}

const thousand = Array.from({ length: 1_000 }, (_, n) => `T-${n}`);

test('a thousand open tickets are told in pages, each once, and no other tenant hears of it', async () => {
  const needs = open({ a: thousand, b: ['other'] });
  expect(await tellAll(needs, 'a')).toEqual({ pages: 5, told: 1_000 });
  expect(new Set(needs.told).size).toBe(1_000);
  expect(needs.told.some((name) => name.startsWith('b/'))).toBe(false);
});

test('the switch of the installation tells the tickets of every tenant', async () => {
  const needs = open({ b: ['T-2'], a: ['T-1', 'T-3'] });
  expect(await tellAll(needs, null)).toEqual({ pages: 1, told: 3 });
  expect(needs.told).toEqual(['a/T-1', 'a/T-3', 'b/T-2']);
});

test('a page goes on after the place that was reached, whatever was opened or ended meanwhile', async () => {
  const first = await tellTickets(open({ a: thousand }), { scope: 'a', ...NOTICE, after: null });
  const reached = first.next?.slice('a/'.length) ?? '';
  // The one that the place names has ended since.
  const changed = thousand.filter((ticket) => ticket !== reached);
  const needs = open({ a: changed });
  await tellTickets(needs, { scope: 'a', ...NOTICE, after: first.next });
  expect(needs.told).toHaveLength(200);
  expect(needs.told.every((name) => name > `a/${reached}`)).toBe(true);
});

test('a ticket without a workflow is taken off the list and not counted', async () => {
  const needs = open({ a: ['T-1', 'dead-1'] });
  expect(await tellAll(needs, 'a')).toEqual({ pages: 1, told: 1 });
  expect(needs.forgotten).toEqual(['a/dead-1']);
});

test('there is nobody to tell', async () => {
  expect(await tellAll(open({ a: [] }), 'a')).toEqual({ pages: 1, told: 0 });
});
