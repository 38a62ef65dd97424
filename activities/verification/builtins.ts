/** Checks that the control plane answers itself, from its own repository. */
import { isAncestor } from '../git/commits.ts';
import { combinedTree } from '../git/candidate.ts';
import { describeFile } from '../git/files.ts';
import { parentsOf } from '../git/commits.ts';
import { repositoryPath, treeOf } from '../git/repository.ts';
import { canonicalBytes } from '../../schemas/canonical.ts';
import { contentDigest } from '../../schemas/digest.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { BuiltinAnswer, BuiltinRequest } from '../../schemas/verification/activities.ts';
import type { SubjectParameters } from '../../schemas/verification/workflow.ts';
import type { VerificationDependencies } from './dependencies.ts';

const MAX_PLAN_BYTES = 256 * 1024;

/** @throws `not_found` for a check that nobody here knows */
export async function observeBuiltin(
  needs: VerificationDependencies,
  { parameters, name }: BuiltinRequest,
): Promise<BuiltinAnswer> {
  const gitDir = repositoryPath(needs.repositoriesDir, parameters.tenant, parameters.ticket);
  switch (name) {
    case 'plan-present':
      return await planPresent(gitDir, parameters);
    case 'candidate-bound':
      return await candidateBound(gitDir, parameters);
    default:
      throw portcullisError('not_found', { what: 'builtin check', id: name });
  }
}

async function planPresent(gitDir: string, { plan }: SubjectParameters): Promise<BuiltinAnswer> {
  const file = await describeFile(gitDir, { commit: plan.commit, path: 'PLAN.md', maxBytes: MAX_PLAN_BYTES });
  if (file.state !== 'present') return { status: 'failed', refs: [] };
  // The plan that was submitted is the plan that is there.
  return { status: file.digest === plan.digest ? 'passed' : 'failed', refs: [{ id: 'PLAN.md', digest: file.digest }] };
}

/** The candidate is exactly base and head combined, on top of the base: nothing was added on the way (spec/tickets.md, Rules). */
async function candidateBound(gitDir: string, { change, branchHead }: SubjectParameters): Promise<BuiltinAnswer> {
  const [parents, tree, expected, known] = await Promise.all([
    parentsOf(gitDir, change.head),
    treeOf(gitDir, change.head),
    combinedTree(gitDir, change.base, branchHead),
    isAncestor(gitDir, change.base, change.head),
  ]);
  const bound = known && parents[0] === change.base && tree === expected;
  const seen = { base: change.base, branchHead, candidate: change.head, tree, expected };
  return {
    status: bound ? 'passed' : 'failed',
    refs: [{ id: 'candidate', digest: contentDigest(canonicalBytes(seen)) }],
  };
}
