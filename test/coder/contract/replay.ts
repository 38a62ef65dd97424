/** Replays the whole recording against a local Coder and says, exchange by exchange, whether it was answered alike. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Exchange, isExchange, keyOf, recording, shapes, type Trail } from './fixture.ts';
import { at, fieldsOf, shapeOf, stateOf } from './observe.ts';
import { before, prepareSent } from './before.ts';
import { checkTrail } from './notes.ts';
import type { Stand } from './stand.ts';
import type { Answer } from './world.ts';

export interface Verdict {
  readonly key: string;
  readonly label: string;
  /** Null when it was answered alike. */
  readonly differs: string | null;
}

export interface Report {
  readonly exchanges: readonly Verdict[];
  readonly trails: readonly Verdict[];
}

/** The context of a chat's workspace comes at a time of its own. */
const BY_CHANCE = /(?:^|\.)context(?:\.dirty)?$/;
const POLL_MS = 2;
const DEADLINE_MS = 1_500;

export async function replay(stand: Stand, say: (verdict: Verdict) => void = () => {}): Promise<Report> {
  const exchanges: Verdict[] = [];
  const trails: Verdict[] = [];
  const entries = recording();
  for (let index = 0; index < entries.length; index += 1) {
    const entry = entries[index];
    if (entry === undefined) continue;
    if (!isExchange(entry)) {
      trails.push(verdict(entry, await checkTrail(stand, entry).catch(reasonOf)));
      say(trails.at(-1)!);
      continue;
    }
    const group = concurrent(entries, index);
    index += group.length - 1;
    // What was waited for in vain shows in the answer.
    for (const one of group) await before(stand, one).catch(() => {});
    const answers = await Promise.all(group.map((one) => asked(stand, one)));
    for (const [place, one] of pair(group, answers).entries()) {
      const [exchange, answer] = one;
      exchanges.push(verdict(exchange, differs(stand, exchange, answer)));
      say(exchanges.at(-1)!);
      await stand.remember(exchange, answer, place);
    }
  }
  return { exchanges, trails };
}

function verdict(entry: Exchange | Trail, differs: string | null): Verdict {
  return { key: keyOf(entry), label: entry.label, differs };
}

/** Exchanges that were made at once: those of one race stand beside each other. */
function concurrent(entries: readonly (Exchange | Trail)[], from: number): readonly Exchange[] {
  const group: Exchange[] = [];
  for (const entry of entries.slice(from)) {
    if (!isExchange(entry) || (group.length > 0 && !entry.label.startsWith('concurrent'))) break;
    group.push(entry);
    if (!entry.label.startsWith('concurrent')) break;
  }
  return group;
}

/** Who wins a race is chance: each recorded answer is compared with one of its status. */
function pair(group: readonly Exchange[], answers: readonly Answer[]): readonly (readonly [Exchange, Answer])[] {
  const left = [...answers];
  return group.map((exchange) => {
    const place = left.findIndex(({ status }) => status === exchange.status);
    const [answer] = left.splice(Math.max(0, place), 1);
    return [exchange, answer ?? { status: 0, body: '' }];
  });
}

async function asked(stand: Stand, exchange: Exchange): Promise<Answer> {
  try {
    const sent = prepareSent(stand, exchange);
    if (exchange.method === 'POST' && exchange.path.includes('/chats'))
      stand.chatMark = stand.chats.statuses(stand.chatId).length;
    const deadline = performance.now() + DEADLINE_MS;
    for (;;) {
      const answer = await stand.world.ask(sent);
      if (exchange.method !== 'GET' || differs(stand, exchange, answer) === null) return answer;
      const told = watched(stand, exchange);
      if (told !== null) return told;
      if (performance.now() > deadline) return answer;
      await pause(POLL_MS);
    }
  } catch (error) {
    return { status: 0, body: reasonOf(error) };
  }
}

/** A state that was over before it could be read was told by the watch stream, in the same form. */
function watched(stand: Stand, exchange: Exchange): Answer | null {
  const path = /^\/api\/v2\/workspace(s|builds)\/([0-9a-f-]{36})$/.exec(stand.world.live(exchange.path));
  if (path === null) return null;
  const [, kind, id] = path;
  const bodies = stand.watching.bodies().map((body) => (kind === 's' ? body : at(body, 'latest_build')));
  const answers = bodies.filter((body) => at(body, 'id') === id).map((body) => ({ status: 200, body }));
  return answers.find((answer) => differs(stand, exchange, answer) === null) ?? null;
}

/** Null when status, keys, refused fields and state are as recorded. */
function differs(stand: Stand, exchange: Exchange, { status, body }: Answer): string | null {
  if (status !== exchange.status)
    return `status ${status}, recorded ${exchange.status}: ${JSON.stringify(body).slice(0, 160)}`;
  const wanted = shapes()[exchange.shape] ?? [];
  const got = shapeOf(body);
  const missing = wanted.filter((path) => !got.includes(path) && !BY_CHANCE.test(path));
  const added = got.filter((path) => !wanted.includes(path) && !BY_CHANCE.test(path));
  if (missing.length + added.length > 0)
    return `keys: without ${missing.join(', ') || 'none'}; beyond ${added.join(', ') || 'none'}`;
  if (exchange.fields !== undefined && fieldsOf(body).join() !== exchange.fields.join()) {
    return `fields ${fieldsOf(body).join()}, recorded ${exchange.fields.join()}`;
  }
  const state = stand.world.live(JSON.stringify(exchange.state ?? null));
  const seen = JSON.stringify(stateOf(body) ?? null);
  return exchange.state === undefined || sameState(state, seen) ? null : `state ${seen}, recorded ${state}`;
}

function sameState(one: string, other: string): boolean {
  const sorted = (text: string) => JSON.stringify(Object.entries(JSON.parse(text) as Record<string, unknown>).sort());
  return sorted(one) === sorted(other);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
