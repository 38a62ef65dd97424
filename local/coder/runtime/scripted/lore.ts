/** The scripted LORE: one line of the changelog for what landed. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { askOf, type Assignment } from '../../../../schemas/harness-api.ts';
import type { Desk } from './forge.ts';
import { PLAN_FILE, readPlan } from './plan.ts';
import { commitAndPush, syncBranch, tryGit } from './repository.ts';

const CHANGELOG = 'CHANGELOG.md';
const HEADING = '# Changelog\n';

export async function workAsLore({ directory, git, calls, say }: Desk, assignment: Assignment): Promise<string> {
  const { title, branch, revision, plan } = assignment;
  const asked = askOf(assignment);
  if (asked !== 'documentation') return `I am LORE, and I am asked for ${asked}.`;
  await syncBranch(git, branch);
  const segments =
    readPlan((await tryGit(git, 'show', `${plan?.commit ?? 'HEAD'}:${PLAN_FILE}`)) ?? '')?.segments ?? [];
  const file = join(directory, CHANGELOG);
  const text = await readFile(file, 'utf8').catch(() => HEADING);
  const line = `- ${title}${segments.length === 0 ? '' : `: ${segments.map(({ method }) => `\`${method}\``).join(', ')}`}`;
  if (text.includes(line)) return 'The changelog says it already: nothing to document.';
  const rest = text.startsWith(HEADING) ? text.slice(HEADING.length).trimStart() : text;
  await writeFile(file, `${HEADING}\n${line}\n${rest}`);
  say(`${CHANGELOG}: ${line}`);
  const commit = await commitAndPush(git, branch, `Changelog: ${title}`);
  await calls.submitReady({ commit, revision });
  return `The changelog has a line for it (${commit.slice(0, 12)}).`;
}
