/** What `portcullis up` does: start or attach, tell, verify the example, stay up. */
import { startStack, type StackStep } from '../../local/supervisor/stack.ts';
import { stackOptions } from '../../local/supervisor/options.ts';
import { stackStatus } from '../../local/status.ts';
import { ERROR_CATALOGUE } from '../../schemas/errors.ts';
import type { StackAddresses } from '../../local/supervisor/plans.ts';
import { statusText } from '../commands/status.ts';
import { operatorClient } from '../commands/verify.ts';
import type { CliContext } from '../context.ts';
import { sweepSessions } from '../verify/sweep.ts';
import { awaitReadyStack } from './attach.ts';
import { detachedStack } from './detach.ts';
import { ensureOperator } from './operator.ts';
import { runExample } from './example.ts';
import { runExampleTicket } from './example-ticket.ts';

export interface UpFlags {
  readonly once: boolean;
  readonly example: boolean;
  readonly detach: boolean;
}

/** @returns the exit code: the example's with `--once`, when attached, or when detached */
export async function runUp(context: CliContext, flags: UpFlags): Promise<number> {
  const began = performance.now();
  if (flags.detach) {
    await detachedStack(context, said(context));
    await sweep(context);
    return flags.example ? runExamples(context, began) : 0;
  }
  const options = stackOptions(context.settings, context.paths.root, context.environment);
  const operator = (addresses: StackAddresses) => ensureOperator(context, addresses);
  const stack = await startStack(options, said(context), context.signal, operator);
  if ('holder' in stack) return attach(context, flags, stack.holder.pid, began);
  try {
    said(context)({ part: 'supervisor', text: `all parts ready after ${seconds(began)}` });
    await sweep(context);
    const code = flags.example ? await runExamples(context, began) : 0;
    if (flags.once) return code;
    context.output.progress('The stack stays up. Ctrl-C stops it.');
    return await untilSignal(context.signal);
  } finally {
    context.output.progress('Stopping …');
    await stack.stop();
  }
}

/** The verification, then the ticket: the first thing that is not well is the exit code. */
async function runExamples(context: CliContext, began: number): Promise<number> {
  const verified = await runExample(context, began);
  return verified === 0 ? await runExampleTicket(context) : verified;
}

async function attach(context: CliContext, flags: UpFlags, pid: number, began: number): Promise<number> {
  const { output, paths, signal } = context;
  output.progress(`A stack already runs here (supervisor ${pid}); this is a second look at it.`);
  await awaitReadyStack(paths, signal);
  output.progress(statusText(stackStatus(paths), output));
  await sweep(context);
  return flags.example ? runExamples(context, began) : 0;
}

/** What verifications left behind that were killed, now that the gateway answers. */
function sweep(context: CliContext): Promise<void> {
  return sweepSessions(context, (pair) => operatorClient(context).closePair(pair));
}

/** TERM is how `portcullis down` asks: an orderly end. */
function untilSignal(signal: AbortSignal): Promise<number> {
  const code = () => (signal.reason === 'SIGTERM' ? 0 : ERROR_CATALOGUE.interrupted.exit);
  if (signal.aborted) return Promise.resolve(code());
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(code()), { once: true }));
}

function said({ output }: CliContext): (step: StackStep) => void {
  return ({ part, text }) => output.progress(`${output.style('dim', part.padEnd(10))} ${text}`);
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
