/** `portcullis policy diff A B`: what changed between two documents of the command policy. */
import { Command } from 'commander';
import { readCommandPolicy } from '../../activities/policy/load.ts';
import { diffCommandPolicies, type PolicyChange } from '../../policies/commands/diff.ts';
import type { Output } from '../output.ts';
import { action, exampleHelp } from '../program.ts';

/** The verb; whoever builds the noun `policy` adds it. */
export function policyDiffCommand(): Command {
  const command = new Command('diff')
    .description('what changed between two documents')
    .argument('<before>', 'a document')
    .argument('<after>', 'another one');
  exampleHelp(command, 'portcullis policy diff old.json new.json');
  return action(command, ({ output }, called) =>
    policyDiff({ before: called.args[0] ?? '', after: called.args[1] ?? '' }, output),
  );
}

export interface PolicyDiffOptions {
  readonly before: string;
  readonly after: string;
}

/** @returns 0 when both say the same, 3 when they differ. @throws `setting_invalid` for a file that is no command policy */
export async function policyDiff({ before, after }: PolicyDiffOptions, output: Output): Promise<number> {
  const changes = diffCommandPolicies(await readCommandPolicy(before), await readCommandPolicy(after));
  const text = changes.length === 0 ? 'They say the same.' : changes.map((change) => textOf(change, output)).join('\n');
  output.result('PolicyDiff', { same: changes.length === 0, changes }, text);
  return changes.length === 0 ? 0 : 3;
}

function textOf({ path, before, after }: PolicyChange, output: Output): string {
  return [
    path,
    ...(before === null ? [] : [output.style('bad', `- ${before}`)]),
    ...(after === null ? [] : [output.style('good', `+ ${after}`)]),
  ].join('\n');
}
