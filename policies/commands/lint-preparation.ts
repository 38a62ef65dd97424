/** What must hold of the preparations of a command policy. */
import { EGRESS_ORIGIN } from '../../schemas/egress.ts';
import type { PrepareStep } from '../../schemas/verify/prepare.ts';
import { relativePathProblem } from './limits.ts';
import type { PolicyFinding } from './lint.ts';
import type { CommandPolicy } from './types.ts';

/** Half an hour: a preparation that takes longer is no preparation. */
const MAX_TIMEOUT_SECS = 1800;
/** Names through which a document could undo what the sandbox or the digests do. */
const FORBIDDEN = /^(?:LD_|BASH_ENV$|ENV$|GIT_|NODE_OPTIONS$|PYTHONSTARTUP$|GONOSUMCHECK$|GOFLAGS$)/;
/** A checksum database that is off, or one for some modules only, holds nothing to anything. */
const UNCHECKED = ['GONOSUMDB', 'GOPRIVATE', 'GOINSECURE'] as const;

/** What a tool must be told for its installed packages not to run anything. */
const WITHOUT_SCRIPTS: Readonly<Record<PrepareStep['tool'], string | null>> = {
  npm: '--ignore-scripts',
  pnpm: '--ignore-scripts',
  cargo: null,
  go: null,
  python3: '--only-binary=:all:',
};

export function preparationProblems(policy: CommandPolicy): readonly PolicyFinding[] {
  const ids = policy.preparations.map(({ id }) => id);
  const unknown = policy.templates.flatMap(({ id, prepare }) =>
    prepare === null || ids.includes(prepare) ? [] : [{ template: id, problem: `there is no preparation ${prepare}` }],
  );
  const own = policy.preparations.flatMap((step, index) => [
    ...(ids.indexOf(step.id) === index ? [] : [{ template: step.id, problem: 'the preparation is there twice' }]),
    ...stepProblems(step).map((problem) => ({ template: step.id, problem })),
  ]);
  return [...unknown, ...own];
}

function stepProblems(step: PrepareStep): readonly string[] {
  const problems: string[] = [];
  for (const command of step.commands) {
    if (command[0] !== step.tool) problems.push(`a command begins with another tool than ${step.tool}`);
    // eslint's control characters are what this is about: nothing may be hidden in a command.
    if (command.some((word) => !/^[\x21-\x7e]+$/.test(word)))
      problems.push('a command has a space or a control character');
  }
  const flag = WITHOUT_SCRIPTS[step.tool];
  if (!step.installScripts && flag !== null && !step.commands.some((command) => command.includes(flag))) {
    problems.push(`install scripts are off, but no command says ${flag}`);
  }
  if (step.timeoutSecs < 1 || step.timeoutSecs > MAX_TIMEOUT_SECS)
    problems.push(`timeoutSecs is not 1 to ${MAX_TIMEOUT_SECS}`);
  for (const path of step.lockfiles) {
    if (relativePathProblem(path) !== null) problems.push(`the lockfile ${path} is not inside the tree`);
  }
  return [...problems, ...environmentProblems(step)];
}

function environmentProblems({ environment, provides }: PrepareStep): readonly string[] {
  const names = [...Object.keys(environment), ...Object.keys(provides)];
  const forbidden = names.filter(
    (name) => FORBIDDEN.test(name) && !(name === 'GOFLAGS' && environment[name] === '-mod=readonly'),
  );
  const elsewhere = Object.entries(environment).filter(
    ([, value]) => /^[a-z+]*https?:\/\//.test(value) && !value.startsWith(`${EGRESS_ORIGIN}/`),
  );
  const unchecked = UNCHECKED.filter((name) => (environment[name] ?? '') !== '');
  return [
    ...forbidden.map((name) => `the environment may not set ${name}`),
    ...elsewhere.map(([name]) => `${name} names a server: registries are reached at ${EGRESS_ORIGIN} only`),
    ...unchecked.map((name) => `${name} would leave modules unchecked`),
  ];
}
