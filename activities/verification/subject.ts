/** Makes the subject of a gate from the ticket's parameters, and says whether it can be judged at all. */
import { standingAnswer } from '../../policies/verification/standing-answer.ts';
import { subjectOf } from '../../policies/verification/subject.ts';
import type { Digest } from '../../schemas/digest.ts';
import { asPortcullisError } from '../../schemas/errors.ts';
import type { ArtifactsAnswer, CheckPlanRequest, PlannedCheck } from '../../schemas/verification/activities.ts';
import type { SubjectParameters } from '../../schemas/verification/workflow.ts';
import { isFindingId } from '../../schemas/gate/finding.ts';
import { headOf } from '../../schemas/gate/subject.ts';
import { keysOf } from '../../schemas/keys.ts';
import { portcullisError } from '../../schemas/errors.ts';
import { filedFindingsOf } from '../evidence/open-findings.ts';
import { describeChange, describeFile } from '../git/files.ts';
import { repositoryPath } from '../git/repository.ts';
import type { VerificationDependencies } from './dependencies.ts';

const PLAN = 'PLAN.md';
const MAX_PLAN_BYTES = 256 * 1024;

/** @throws `not_found` for a plan or a change that is not there, `schema_invalid`, `policy_mismatch` */
export async function recordSubject(
  needs: VerificationDependencies,
  parameters: SubjectParameters,
): Promise<{ readonly subjectDigest: Digest<'subject'> }> {
  const { tenant, ticket, change, plan } = parameters;
  const gitDir = repositoryPath(needs.repositoriesDir, tenant, ticket);
  const [requirements, described, planFile, priorBlockers] = await Promise.all([
    needs.evidence.gateRequirements({ tenant, gate: parameters.gate }),
    describeChange(gitDir, change.base, change.head, []),
    describeFile(gitDir, { commit: plan.commit, path: PLAN, maxBytes: MAX_PLAN_BYTES }),
    filedFindingsOf(needs.evidenceStore, { tenant, ticket }, parameters.priorBlockers.filter(isFindingId)),
  ]);
  if (planFile.state !== 'present') throw portcullisError('not_found', { what: PLAN, id: plan.commit });
  const manifest = subjectOf(parameters, {
    requirements,
    diffDigest: described.diffDigest,
    workforceRevision: needs.workforceRevision,
    planSize: planFile.size,
    priorBlockers,
  });
  const { subjectDigest } = await needs.evidence.registerSubject({ tenant, manifest });
  return { subjectDigest };
}

/** What is missing, empty or unreadable is never approved (seeds/000). */
export async function requireArtifacts(
  needs: VerificationDependencies,
  { tenant, ticket, change, plan }: SubjectParameters,
): Promise<ArtifactsAnswer> {
  const gitDir = repositoryPath(needs.repositoriesDir, tenant, ticket);
  try {
    const file = await describeFile(gitDir, { commit: plan.commit, path: PLAN, maxBytes: MAX_PLAN_BYTES });
    if (file.state !== 'present') return { missing: PLAN };
    const { pathCount } = await describeChange(gitDir, change.base, change.head, []);
    return { missing: pathCount === 0 ? 'the diff, which is empty' : null };
  } catch (thrown) {
    if (asPortcullisError(thrown).code !== 'not_found') throw thrown;
    return { missing: 'a commit that is judged' };
  }
}

/** The checks of the subject in order, and what this head and execution already have of each. */
export async function planChecks(
  needs: VerificationDependencies,
  { tenant, subjectDigest }: CheckPlanRequest,
): Promise<readonly PlannedCheck[]> {
  const { evidenceStore } = needs;
  const subject = await evidenceStore.readSubject(tenant, subjectDigest);
  if (subject === null) throw portcullisError('not_found', { what: 'subject', id: subjectDigest });
  return await Promise.all(
    subject.requiredChecks.map(async ({ checkId, definitionDigest }): Promise<PlannedCheck> => {
      const definition = await evidenceStore.readCheckDefinition(tenant, definitionDigest);
      if (definition === null) throw portcullisError('not_found', { what: 'check definition', id: definitionDigest });
      const index = keysOf(tenant).checkIndex({
        ticket: subject.missionId,
        checkId,
        definitionDigest,
        head: headOf(subject),
        executionId: subject.executionId,
        executionGeneration: subject.executionGeneration,
      });
      return { checkId, definition, answer: await answerOf(needs, tenant, index) };
    }),
  );
}

async function answerOf(
  { evidenceStore }: VerificationDependencies,
  tenant: string,
  index: string,
): Promise<PlannedCheck['answer']> {
  const { entries } = await evidenceStore.readIndex(tenant, index);
  const named = entries.flatMap((entry) =>
    entry.schema === 'malformed' ? [] : [{ family: entry.family, digest: entry.digest }],
  );
  return standingAnswer(await evidenceStore.readItems(tenant, named));
}
