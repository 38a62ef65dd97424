/** `portcullis status`: each part of the local stack. */
import { Command } from 'commander';
import { stackStatus, type PartStatus, type StackStatus } from '../../local/status.ts';
import { ERROR_CATALOGUE } from '../../schemas/errors.ts';
import { duration, table, type Output } from '../output.ts';
import { action, exampleHelp } from '../program.ts';

export function statusCommand(): Command {
  const command = new Command('status').description('show each part of the local stack');
  exampleHelp(command, 'portcullis status', 'portcullis status --json');
  return action(command, ({ paths, output }) => {
    const status = stackStatus(paths);
    output.result(
      'Status',
      { running: status.supervisorPid !== null, stateDir: paths.root, ...status },
      statusText(status, output),
    );
    return status.ready ? 0 : ERROR_CATALOGUE.stack_not_running.exit;
  });
}

/** The table for people. */
export function statusText(status: StackStatus, output: Output): string {
  if (status.parts.length === 0) return 'No local stack was ever started here. Start one: portcullis up';
  const now = Date.now();
  const rows = status.parts.map((part) => [
    part.part,
    part.state,
    part.pid === null ? '-' : String(part.pid),
    part.address === '' ? '-' : part.address,
    part.since === 0 ? '-' : `${duration(now - part.since)} ago`,
    String(part.restarts),
  ]);
  const lines = table([['PART', 'STATE', 'PID', 'ADDRESS', 'SINCE', 'RESTARTS'], ...rows]).split('\n');
  const [head = '', ...body] = lines;
  const coloured = body.map((line, index) => colourState(line, status.parts[index], output));
  return [output.style('dim', head), ...coloured, '', summary(status, now)].join('\n');
}

function summary(status: StackStatus, now: number): string {
  if (status.supervisorPid === null) return 'The supervisor does not run. Start the stack: portcullis up';
  const since = status.startedAt === null ? '' : ` for ${duration(now - status.startedAt)}`;
  const ui = status.temporalUi === null ? '' : ` Temporal UI: ${status.temporalUi}`;
  return `Supervisor ${status.supervisorPid} runs${since}.${ui}`;
}

function colourState(line: string, part: PartStatus | undefined, output: Output): string {
  if (part === undefined) return line;
  const style =
    part.state === 'ready' || part.state === 'external' ? 'good' : part.state === 'starting' ? 'warn' : 'bad';
  return line.replace(part.state, output.style(style, part.state));
}
