/** The git activities of the control worker: each call on the pair's own bare repository. */
import type { GitActivities, RepositoryRef } from '../../schemas/git/activities.ts';
import { fetchBase, mirrorBranch } from './base.ts';
import { makeCandidate } from './candidate.ts';
import { checkPushed, placeBranch } from './commits.ts';
import { describeChange, describeFile } from './files.ts';
import { land, type LandDependencies } from './land.ts';
import { landEntered, type LandAudit } from './land-audit.ts';
import { repositoryPath } from './repository.ts';

export interface GitDependencies extends LandDependencies, LandAudit {
  readonly repositoriesDir: string;
}

export function gitActivities(needs: GitDependencies): GitActivities {
  const at = ({ tenant, pair }: RepositoryRef) => repositoryPath(needs.repositoriesDir, tenant, pair);
  return {
    readFile: (of) => describeFile(at(of), of),
    checkPushed: (of) => checkPushed(at(of), of),
    describeChange: (of) => describeChange(at(of), of.base, of.head, of.within),
    makeCandidate: (request) => makeCandidate(at(request), request),
    fetchBase: async (request) => ({ commit: await fetchBase(at(request), needs.remotes, request) }),
    mayLand: (landing) => needs.mayLand(landing),
    land: (request) => landEntered(needs, request, () => land(at(request), needs, request)),
    placeBranch: (of) => placeBranch(at(of), of.branch, of.commit),
    mirrorBranch: (request) => mirrorBranch(at(request), needs.remotes, request),
  };
}
