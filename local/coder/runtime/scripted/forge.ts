/** The scripted FORGE: plans what the code lacks of what the ticket names, builds it a segment at a time, mends what it is told. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HarnessCalls } from '../../../../workers/agent/calls.ts';
import { askOf, type Assignment } from '../../../../schemas/harness-api.ts';
import { methodsOf, unboundedGrowth, withMethod } from './code.ts';
import { PLAN_FILE, planText, readPlan, wantedMethods, type PlanSegment } from './plan.ts';
import { boundTest, factoryOf, promiseOf, writeMethod } from './recipes.ts';
import { commitAndPush, syncBranch, tryGit, type Git } from './repository.ts';

export interface Desk {
  readonly directory: string;
  readonly git: Git;
  readonly calls: HarnessCalls;
  /** A line of progress. */
  readonly say: (text: string) => void;
}

/** What it has to say when it is done; it submits nothing that it could not make. */
export async function workAsForge(desk: Desk, assignment: Assignment): Promise<string> {
  await syncBranch(desk.git, assignment.branch);
  const asked = askOf(assignment);
  switch (asked) {
    case 'plan':
      return plan(desk, assignment);
    case 'segment':
      return segment(desk, assignment);
    case 'ready':
      return ready(desk, assignment);
    case 'review':
    case 'documentation':
    case 'nothing':
      return `I am FORGE, and I am asked for ${asked}.`;
  }
}

async function plan(desk: Desk, { title, goal, branch, revision }: Assignment): Promise<string> {
  const source = await sourceFile(desk);
  if (source === null)
    return 'I found no module below src/ that returns an object of methods, so there is nothing I can plan.';
  const there = methodsOf(source.code);
  const lacking = wantedMethods(`${title}\n${goal}`).filter((method) => !there.includes(method));
  const segments = lacking.flatMap((method): Omit<PlanSegment, 'n'>[] => {
    const promise = promiseOf(method);
    return promise === null ? [] : [{ method, promise, files: [source.file, testOf(source.file)] }];
  });
  desk.say(`${source.file} has ${there.join(', ')}; it lacks ${lacking.join(', ')}`);
  if (segments.length < lacking.length || segments.length === 0) {
    return `Of ${lacking.join(', ') || 'what is asked'} I cannot plan everything, so I plan nothing.`;
  }
  const text = planText({ title, segments: segments.map((one, index) => ({ n: index + 1, ...one })) });
  await writeFile(join(desk.directory, PLAN_FILE), text);
  const commit = await commitAndPush(desk.git, branch, `Plan: ${title}`);
  await desk.calls.submitPlan({ commit, revision });
  return `I planned ${segments.length} segments in ${PLAN_FILE} at ${commit.slice(0, 12)}.`;
}

async function segment(desk: Desk, assignment: Assignment): Promise<string> {
  const { branch, revision } = assignment;
  const n = assignment.segment?.n ?? 0;
  const planned = readPlan(await textOf(desk, PLAN_FILE))?.segments.find((one) => one.n === n);
  const source = await sourceFile(desk);
  if (planned === undefined || source === null) return `The plan has no segment ${n} that I could build here.`;
  const built = methodsOf(source.code).includes(planned.method)
    ? await mend(desk, source, assignment)
    : await build(desk, source, planned.method);
  if (built === null) return `I do not know how to go on with \`${planned.method}\`.`;
  const commit = await commitAndPush(desk.git, branch, built);
  await desk.calls.submitSegment({ n, commit, revision });
  return `Segment ${n}: ${built} (${commit.slice(0, 12)}).`;
}

async function ready(desk: Desk, assignment: Assignment): Promise<string> {
  const { branch, revision, feedback } = assignment;
  const source = await sourceFile(desk);
  const mended = feedback === null || source === null ? null : await mend(desk, source, assignment);
  if (feedback !== null && mended === null) return 'I do not know how to mend what was found.';
  const commit = await commitAndPush(desk.git, branch, mended ?? 'Nothing left to build');
  await desk.calls.submitReady({ commit, revision });
  return `Everything that was planned is built (${commit.slice(0, 12)}).`;
}

interface Source {
  readonly file: string;
  readonly code: string;
}

/** The new method and its test; what was done, or `null`. */
async function build(desk: Desk, { file, code }: Source, method: string): Promise<string | null> {
  const written = writeMethod(method, code);
  const changed = written === null ? null : withMethod(code, written.method);
  if (written === null || changed === null) return null;
  await writeFile(join(desk.directory, file), changed);
  await addTest(desk, testOf(file), written.test);
  desk.say(`wrote ${method} in ${file} and a test of it`);
  return `Add \`${method}\``;
}

/** Mends the statements that the review quotes and that really are there; whatever is like them, when it quotes none. */
async function mend(desk: Desk, { file, code }: Source, assignment: Assignment): Promise<string | null> {
  const found = unboundedGrowth(code);
  const feedback = await feedbackOf(desk, assignment);
  const quoted = found.filter(({ statement }) => feedback.includes(`\`${statement}\``));
  const wrong = quoted.length > 0 ? quoted : found;
  const factory = factoryOf(code);
  if (feedback === '' || wrong.length === 0 || factory === null) return null;
  const changed = wrong.reduce(
    (text, { variable, bound, amount, statement }) =>
      text.replaceAll(`${statement};`, `${variable} = Math.min(${bound}, ${variable} + ${amount});`),
    code,
  );
  await writeFile(join(desk.directory, file), changed);
  await addTest(desk, testOf(file), boundTest(factory));
  desk.say(`bounded ${wrong.map(({ statement }) => statement).join(', ')} in ${file}`);
  return `Keep ${[...new Set(wrong.map(({ variable }) => `\`${variable}\``))].join(', ')} within bounds`;
}

/** What the control plane says, and the reviews themselves where they can be read. */
async function feedbackOf({ git }: Desk, { pair, feedback }: Assignment): Promise<string> {
  if (feedback === null) return '';
  const reviews = `refs/portcullis/reviews/${pair}`;
  if ((await tryGit(git, 'fetch', '--quiet', 'origin', reviews)) === null) return feedback;
  const names = (await tryGit(git, 'ls-tree', '-r', '--name-only', 'FETCH_HEAD')) ?? '';
  const texts = names.split('\n').map((name) => tryGit(git, 'show', `FETCH_HEAD:${name}`));
  return [feedback, ...(await Promise.all(texts))].join('\n');
}

async function addTest(desk: Desk, file: string, test: string): Promise<void> {
  const text = await textOf(desk, file);
  if (text.includes(test)) return;
  await writeFile(join(desk.directory, file), `${text.trimEnd()}\n\n${test}\n`);
}

/** The first module below src/ that returns an object of methods. */
async function sourceFile(desk: Desk): Promise<Source | null> {
  const files = (await desk.git('ls-files', 'src')).split('\n').filter((file) => /\.m?js$/.test(file));
  for (const file of files) {
    const code = await textOf(desk, file);
    if (methodsOf(code).length > 0) return { file, code };
  }
  return null;
}

function testOf(file: string): string {
  return file.replace(/^src\//, 'test/').replace(/\.(m?js)$/, '.test.$1');
}

async function textOf({ directory }: Desk, file: string): Promise<string> {
  return readFile(join(directory, file), 'utf8').catch(() => '');
}
