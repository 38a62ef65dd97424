/** `portcullis policy …`: the command policy, read without running anything. */
import { Command } from 'commander';
import { policyCheckCommand } from './policy-check.ts';
import { policyDiffCommand } from './policy-diff.ts';
import { policyLintCommand } from './policy-lint.ts';
import { policyListCommand, policyShowCommand } from './policy-list.ts';

export function policyCommand(): Command {
  return new Command('policy')
    .description('what may run')
    .addCommand(policyCheckCommand())
    .addCommand(policyListCommand())
    .addCommand(policyShowCommand())
    .addCommand(policyLintCommand())
    .addCommand(policyDiffCommand());
}
