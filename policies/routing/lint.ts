/** What must hold of a routing policy beyond its shape. A document with a finding is not loaded. */
import type { Role } from '../../schemas/names.ts';
import { WORKING_DIRECTORIES } from '../../schemas/verify/request.ts';
import type { RoutingPolicy } from './types.ts';

export interface RoutingFinding {
  /** Where in the document. */
  readonly path: string;
  readonly problem: string;
}

/** Whoever works, executes or merges does not ask for what judges it (spec/delegated-verification.md section 2). */
const REQUESTERS: readonly Role[] = ['sentinel', 'operator'];

/** Everything wrong with this policy; empty when it may be used. */
export function lintRoutingPolicy(policy: RoutingPolicy): readonly RoutingFinding[] {
  const findings: RoutingFinding[] = [];
  const seen = new Set<string>();
  for (const { executor, cwd, askedBy } of policy.rules) {
    const path = `rules.${executor}`;
    const add = (problem: string) => findings.push({ path, problem });
    if (seen.has(executor)) add('there are two rules for this executor');
    seen.add(executor);
    if (cwd.length === 0) add('no working directory is permitted; leave the rule out instead');
    if (askedBy.length === 0) add('nobody may ask for it; leave the rule out instead');
    for (const role of askedBy) if (!REQUESTERS.includes(role)) add(`${role} may not ask for verification`);
    // A worktree is somebody's unfinished work: with one in it, the workspace would not be a verifier's.
    if (executor === 'verifier' && cwd.includes('worktree')) add('a verifier has no live tree');
  }
  for (const cwd of WORKING_DIRECTORIES) {
    const executor = policy.defaults[cwd];
    const rule = policy.rules.find((one) => one.executor === executor);
    if (rule?.cwd.includes(cwd) !== true) {
      findings.push({ path: `defaults.${cwd}`, problem: `no rule sends a request for a ${cwd} to ${executor}` });
    }
  }
  return findings;
}
