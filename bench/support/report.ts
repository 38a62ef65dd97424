/** What a benchmark hands back, how it is kept (`bench/results/NAME.json`) and how it is shown. */
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Comparison, Timing } from './compare.ts';
import type { BenchOptions } from './options.ts';

/** A number somebody promised, beside the number measured. */
export interface Goal {
  readonly goal: string;
  readonly measured: string;
  readonly met: boolean;
}

export interface BenchReport {
  readonly comparisons: readonly Comparison[];
  readonly timings: readonly Timing[];
  readonly goals: readonly Goal[];
  /** Anything else worth keeping: sizes, exponents, versions of peers. */
  readonly facts: Readonly<Record<string, string | number | boolean>>;
}

/** A benchmark as `bench/main.ts` lists it. */
export interface Bench {
  readonly name: string;
  /** One line: what is measured beside what. */
  readonly about: string;
  readonly run: (options: BenchOptions) => Promise<BenchReport>;
}

/** Writes `bench/results/NAME.json` with the machine it was measured on, and returns the path. */
export async function writeReport(name: string, report: BenchReport, directory = RESULTS): Promise<string> {
  await mkdir(directory, { recursive: true });
  const path = `${directory}${name}.json`;
  const document = { schema: 'portcullis/bench/v1', name, at: new Date().toISOString(), machine: machine(), ...report };
  await writeFile(path, `${JSON.stringify(document, rounded, 2)}\n`);
  return path;
}

const RESULTS = fileURLToPath(new URL('../results/', import.meta.url));

/** The report as lines for people. */
export function reportLines(report: BenchReport): readonly string[] {
  return [
    ...report.comparisons.flatMap(comparisonLines),
    ...report.timings.map(timingLine),
    ...Object.entries(report.facts).map(([name, value]) => `  ${name}: ${value}`),
    ...report.goals.map((goal) => `  ${goal.met ? 'met   ' : 'MISSED'} ${goal.goal} (measured ${goal.measured})`),
  ];
}

function comparisonLines({ name, ours, peer, ratio }: Comparison): readonly string[] {
  return [
    `  ${name}`,
    `  ${timingLine(ours)}`,
    `  ${timingLine(peer)}`,
    `    ours / peer ${milliseconds(ratio.median)} (${milliseconds(ratio.q1)} to ${milliseconds(ratio.q3)})`,
  ];
}

function timingLine({ name, ms }: Timing): string {
  const spread = `${milliseconds(ms.q1)} to ${milliseconds(ms.q3)}`;
  return `  ${name}: median ${milliseconds(ms.median)} ms (${spread}), p99 ${milliseconds(ms.p99)} ms, n ${ms.samples}`;
}

/** Three digits that matter; also for ratios. */
export function milliseconds(ms: number): string {
  return Number(ms.toPrecision(3)).toString();
}

function machine() {
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryMiB: Math.round(totalmem() / 1024 / 1024),
    /** Over the last minute: above the cores, the machine was busy with something else too. */
    load: loadavg()[0] ?? 0,
  };
}

/** Six digits are more than any of these numbers deserve. */
function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(6)) : value;
}
