/** What the processes of a stack hold and use. Linux: it is read from `/proc`. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { PART_NAMES, type PartName } from '../../local/state.ts';
import type { Stack } from '../../test/e2e/stage.ts';

const MIB = 1024 ** 2;

/** Resident MiB of each part. */
export function residentMib(stack: Stack): ReadonlyMap<PartName, number> {
  return new Map(PART_NAMES.map((part) => [part, residentBytes(stack.pid(part)) / MIB]));
}

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
}

/** Percent of one processor that each part used over so many seconds, with the children that it waited for. */
export async function processorPercent(stack: Stack, seconds: number): Promise<ReadonlyMap<PartName, number>> {
  const before = processorSecondsOf(stack);
  const began = performance.now();
  await delay(seconds * 1000);
  const after = processorSecondsOf(stack);
  const passed = (performance.now() - began) / 1000;
  return new Map(
    PART_NAMES.map((part) => {
      const used = (after.get(part) ?? 0) - (before.get(part) ?? 0);
      return [part, (used / passed) * 100];
    }),
  );
}

/** Processor seconds of each part since it started, with the children that it waited for. */
export function processorSecondsOf(stack: Stack): ReadonlyMap<PartName, number> {
  return new Map(PART_NAMES.map((part) => [part, processorSeconds(stack.pid(part))]));
}

const TICKS_A_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** Fields 14 to 17 of `stat`: user and system time, of the process and of its ended children. */
function processorSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / TICKS_A_SECOND;
}
