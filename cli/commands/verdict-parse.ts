/** `portcullis verdict parse FILE`: what the orchestrator reads in a reviewer's message, or why it cannot. */
import { Command } from 'commander';
import { MESSAGE_BOUNDS } from '../../policies/verdicts/bounds.ts';
import { readReviewText } from '../../policies/verdicts/report.ts';
import { routeOf } from '../../policies/verdicts/route.ts';
import type { VerdictReading, VerdictRoute } from '../../schemas/verdict.ts';
import type { Output, Style } from '../output.ts';
import { action, exampleHelp } from '../program.ts';
import { readPastBound } from '../read-file.ts';

/** The noun with its verb. */
export function verdictCommand(): Command {
  const parse = new Command('parse')
    .description("show what the orchestrator reads in a reviewer's final message, or why it cannot")
    .argument('<file>', 'the message; - reads it from stdin');
  exampleHelp(
    parse,
    'portcullis verdict parse examples/verdicts/approved.md',
    'portcullis verdict parse - --json < examples/verdicts/retry-forja.md',
  );
  action(parse, ({ output }, command) => verdictParse({ file: command.args[0] ?? '-' }, output));
  return new Command('verdict').description("read reviewers' verdicts").addCommand(parse);
}

/** Exit codes: 0 approved, 3 rejected whatever its route, 5 unparseable. */
const EXIT = { APPROVED: 0, REJECTED: 3, UNPARSEABLE: 5 } as const satisfies Record<VerdictReading['verdict'], number>;

/** @returns the exit code. @throws `not_found` without such a file, `usage` when it cannot be read */
export async function verdictParse(
  { file, stdin = process.stdin }: { readonly file: string; readonly stdin?: AsyncIterable<unknown> },
  output: Output,
): Promise<number> {
  const { reading } = readReviewText(await readPastBound(file, MESSAGE_BOUNDS.bytes, stdin));
  const route = routeOf(reading);
  output.result('Verdict', verdictJson(reading, route), verdictText(reading, route, output));
  return EXIT[reading.verdict];
}

function verdictJson(reading: VerdictReading, route: VerdictRoute) {
  const rejected = reading.verdict === 'REJECTED' ? reading : null;
  const unread = reading.verdict === 'UNPARSEABLE' ? reading : null;
  return {
    verdict: reading.verdict,
    verdict_token: rejected?.token ?? null,
    failure_class: rejected?.failureClass ?? null,
    route,
    reason: unread?.reason ?? null,
    detail: unread?.detail ?? null,
  };
}

const STYLES = { APPROVED: 'good', REJECTED: 'bad', UNPARSEABLE: 'warn' } as const satisfies Record<
  VerdictReading['verdict'],
  Style
>;

/** What each route means to the reader of the terminal. */
const ROUTE_SENTENCES: Readonly<Record<VerdictRoute, string>> = {
  proceed: 'the gate may be asked; the verdict is evidence for it, not its decision',
  retry_producer: 'the producer goes back with the failure detail',
  human: 'the loop stops and an operator decides',
  stop: 'recorded and not retried: the cause is outside the repository',
  reask: 'the reviewer is asked once more with the reason, then a human',
};

function verdictText(reading: VerdictReading, route: VerdictRoute, output: Output): string {
  const verdict = output.style(STYLES[reading.verdict], reading.verdict);
  const lines = [`route    ${route}: ${ROUTE_SENTENCES[route]}`];
  switch (reading.verdict) {
    case 'APPROVED':
      return [`verdict  ${verdict}`, ...lines].join('\n');
    case 'REJECTED':
      return [`verdict  ${verdict} ${reading.token} (${reading.failureClass ?? 'no failure class'})`, ...lines].join(
        '\n',
      );
    case 'UNPARSEABLE':
      return [`verdict  ${verdict} ${reading.reason}`, `reason   ${reading.detail}`, ...lines].join('\n');
  }
}
