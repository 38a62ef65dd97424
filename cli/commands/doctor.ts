/** `portcullis doctor`: what this machine and the named servers have and lack, and how to mend it. */
import { Command } from 'commander';
import type { Check } from '../../local/doctor/check.ts';
import { ERROR_CATALOGUE } from '../../schemas/errors.ts';
import type { Output, Style } from '../output.ts';
import { action, exampleHelp } from '../program.ts';

const STYLES = { ok: 'good', warn: 'warn', fail: 'bad', skip: 'dim' } as const satisfies Record<Check['status'], Style>;

export function doctorCommand(): Command {
  const command = new Command('doctor').description('check every dependency and setting, and say how to mend each');
  exampleHelp(command, 'portcullis doctor', 'portcullis doctor --json', 'REDIS_URL=redis://… portcullis doctor');
  return action(command, async ({ settings, paths, environment, output }) => {
    const { examine } = await import('../../local/doctor/examine.ts');
    const checks = await examine({ settings, paths, environment });
    const failed = checks.filter(({ status }) => status === 'fail').length;
    output.result(
      'Doctor',
      { healthy: failed === 0, checks },
      `${checks.map(line(output)).join('\n')}\n\n${sum(checks)}`,
    );
    return failed === 0 ? 0 : ERROR_CATALOGUE.internal.exit;
  });
}

function line(output: Output): (check: Check) => string {
  return ({ name, status, found, mend }) => {
    const head = `${output.style(STYLES[status], status.padEnd(4))}  ${name.padEnd(20)}  ${found}`;
    return mend === '' ? head : `${head}\n${' '.repeat(28)}${mend}`;
  };
}

function sum(checks: readonly Check[]): string {
  const count = (status: Check['status']) => checks.filter((check) => check.status === status).length;
  const failed = count('fail');
  if (failed > 0) return `${failed} of ${checks.length} checks failed.`;
  const skipped = count('skip');
  return `Nothing needed is missing.${skipped > 0 ? ` ${skipped} could not be told without a running stack.` : ''}`;
}
