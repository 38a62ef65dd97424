/** Lines of a build's log, in the stages that the real server names. */
import type { LocalCoderContext } from '../context.ts';
import type { Build, LogRecord } from '../state/records.ts';

export const STAGES = {
  setUp: 'Setting up',
  initialize: 'Initializing Terraform Directory',
  plan: 'Planning Infrastructure',
  start: 'Starting workspace',
  stop: 'Stopping workspace',
  delete: 'Destroying workspace',
  graph: 'Graphing Infrastructure',
  cleanUp: 'Cleaning Up',
} as const;

export interface BuildLog {
  /** The daemon names a stage. */
  stage(stage: string): void;
  line(stage: string, text: string, level?: LogRecord['level']): void;
}

export function buildLog({ state, clock, changes }: LocalCoderContext, build: Build): BuildLog {
  const append = (line: Pick<LogRecord, 'source' | 'level' | 'stage' | 'text'>) => {
    state.logs.append(build.id, { at: clock.iso(), ...line });
    changes.say(`log ${build.id}`);
  };
  return {
    stage: (stage) => append({ source: 'provisioner_daemon', level: 'info', stage, text: '' }),
    line: (stage, text, level = 'info') => append({ source: 'provisioner', level, stage, text }),
  };
}

export function logLineView({ id, at, source, level, stage, text }: LogRecord) {
  return { id, created_at: at, log_source: source, log_level: level, stage, output: text };
}

/** The same lines for people: one each, the source is always called provisioner there. */
export function logText(lines: readonly LogRecord[]): string {
  return lines
    .map(({ at, level, stage, text }) => `${at.slice(0, 19)}Z [${level}] [provisioner|${stage}] ${text}\n`)
    .join('');
}
