/** `portcullis policy list` and `show`: the commands that may be asked for, and one of them whole. */
import { Command } from 'commander';
import { loadCommandPolicy } from '../../activities/policy/load.ts';
import { templateText } from '../../policies/commands/evaluate.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { neededSetting } from '../context.ts';
import { table, type Output } from '../output.ts';
import { action, exampleHelp } from '../program.ts';

/** The verb; whoever builds the noun `policy` adds it. */
export function policyListCommand(): Command {
  const command = new Command('list').description('the commands that may be asked for');
  exampleHelp(command, 'portcullis policy list', 'portcullis policy list --json');
  return action(command, (context) =>
    policyList({ directory: neededSetting(context, 'policies.dir') }, context.output),
  );
}

/** The verb; whoever builds the noun `policy` adds it. */
export function policyShowCommand(): Command {
  const command = new Command('show')
    .description('one template whole, or the whole policy')
    .argument('[template]', 'id of a template');
  exampleHelp(command, 'portcullis policy show cargo-test', 'portcullis policy show --json');
  return action(command, (context, called) =>
    policyShow({ directory: neededSetting(context, 'policies.dir'), template: called.args[0] ?? null }, context.output),
  );
}

/** @returns 0. @throws `setting_invalid` when the policy cannot be used */
export async function policyList({ directory }: { readonly directory: string }, output: Output): Promise<number> {
  const { policy, digest } = await loadCommandPolicy(directory);
  const items = policy.templates.map((template) => ({
    id: template.id,
    command: templateText(template),
    counts: template.counts?.parser ?? null,
    prepare: template.prepare,
    max_timeout_secs: template.maxTimeoutSecs,
  }));
  const rows = items.map(({ id, command, counts, prepare }) => [
    id,
    command,
    counts ?? 'no tests',
    prepare ?? 'nothing',
  ]);
  const heading = `${policy.id} revision ${policy.revision} (${digest})`;
  output.result(
    'PolicyList',
    { policy: { id: policy.id, revision: policy.revision, digest }, items },
    `${heading}\n\n${table([['TEMPLATE', 'COMMAND', 'COUNTS', 'PREPARED BY'], ...rows])}`,
  );
  return 0;
}

export interface PolicyShowOptions {
  readonly directory: string;
  /** `null`: the whole document. */
  readonly template: string | null;
}

/** @returns 0. @throws `setting_invalid`, `not_found` without such a template */
export async function policyShow({ directory, template: id }: PolicyShowOptions, output: Output): Promise<number> {
  const { policy, digest } = await loadCommandPolicy(directory);
  const reference = { id: policy.id, revision: policy.revision, digest };
  if (id === null) {
    output.result('Policy', { policy: reference, document: policy }, JSON.stringify(policy, null, 2));
    return 0;
  }
  const template = policy.templates.find((one) => one.id === id);
  if (template === undefined) throw portcullisError('not_found', { what: 'template', id });
  const preparation = policy.preparations.find((step) => step.id === template.prepare) ?? null;
  const shown = { template, preparation };
  output.result('PolicyTemplate', { policy: reference, ...shown }, JSON.stringify(shown, null, 2));
  return 0;
}
