/** `audit tail` and `events tail`: the newest of what was kept, and with `--follow` what comes after it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { SignedAuditEntry } from '../../schemas/audit.ts';
import type { LifecycleEvent } from '../../schemas/workspace/lifecycle.ts';
import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import { printable } from '../printable.ts';

export interface TailOptions {
  readonly limit: number;
  readonly follow: boolean;
}

/** Between two looks for something new. Milliseconds. */
const LOOK_MS = 1_000;
/** Enough of a digest to tell it from the others on the screen; `--json` has it whole. */
const LONG_DIGEST = /(sha256:[0-9a-f]{12})[0-9a-f]{52}/;

export async function tailAudit(context: CliContext, options: TailOptions): Promise<number> {
  const operator = operatorClient(context);
  return tail(context, options, async (after, limit) => {
    const { items } = await operator.auditPage({ limit, ...(after === null ? {} : { after }) });
    for (const signed of items) context.output.line('AuditEntry', { ...signed }, entryText(signed));
    return items.at(-1)?.entry.n ?? after;
  });
}

export async function tailEvents(context: CliContext, options: TailOptions): Promise<number> {
  const operator = operatorClient(context);
  return tail(context, options, async (after, limit) => {
    const { items, lastSeq, fellOff } = await operator.eventPage({ limit, ...(after === null ? {} : { after }) });
    const missed = after === null ? 0 : Math.min(fellOff, items[0]?.seq ?? lastSeq) - after;
    if (missed > 1) context.output.progress(`${missed - 1} events fell off the ring before they were read.`);
    for (const event of items) context.output.line('LifecycleEvent', { ...event }, eventText(event));
    return items.at(-1)?.seq ?? after;
  });
}

/** `print` prints what follows a number and answers the last one that it printed. */
async function tail(
  { signal }: CliContext,
  { limit, follow }: TailOptions,
  print: (after: number | null, limit: number) => Promise<number | null>,
): Promise<number> {
  let last = await print(null, limit);
  while (follow) {
    await delay(LOOK_MS, undefined, { signal });
    // Nothing there yet: from the first one on.
    last = await print(last ?? 0, 500);
  }
  return 0;
}

function entryText({ entry }: SignedAuditEntry): string {
  const { n, at, event, refs, writer } = entry;
  const named = Object.entries(refs).map(([name, value]) => `${name}=${value.replace(LONG_DIGEST, '$1…')}`);
  return printable([String(n).padStart(6), new Date(at).toISOString(), writer.padEnd(7), event, ...named].join('  '));
}

function eventText({ seq, at, ticket, workspace, phase, outcome, trigger, detail }: LifecycleEvent): string {
  const of = [ticket, workspace].filter((name) => name !== '').join('  ');
  const why = [trigger ?? '', detail].filter((text) => text !== '').join(': ');
  const parts = [String(seq).padStart(6), new Date(at).toISOString(), of, `${phase} ${outcome}`, why];
  return printable(parts.join('  ').trimEnd());
}
