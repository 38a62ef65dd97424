/**
 * Whether a decision authorises landing a commit: it is a pass that applies now, and it is about exactly that commit on that base.
 * A pass of the gate `operation` lands a documentation and nothing else: what is in the change is looked at again, here.
 */
import type { DecisionRef, DecisionStanding } from '../../schemas/gate/activities.ts';
import type { GateKind } from '../../schemas/gate/vocabulary.ts';
import type { SubjectManifest } from '../../schemas/gate/subject.ts';
import type { ChangeAnswer, ChangeRequest, Landing, LandingPermission } from '../../schemas/git/activities.ts';
import { DOCUMENTATION_PATHS } from '../../schemas/ticket/activities.ts';
import { DOCUMENTATION_OPERATION } from '../../policies/verification/documentation.ts';
import type { GateReader } from '../store/gate-port.ts';

/** Gates whose pass may land a change; that of a plan or a segment is about work under way. */
const LANDING_GATES: readonly GateKind[] = ['merge', 'operation'];

export interface PermissionSources {
  readonly reader: Pick<GateReader, 'readSubject'>;
  readonly standing: (of: DecisionRef) => Promise<DecisionStanding>;
  /** From our own repository of the pair. */
  readonly describeChange: (of: ChangeRequest) => Promise<Pick<ChangeAnswer, 'within'>>;
}

/** @throws `not_found`, `record_unreadable`, `store_unavailable`: what cannot be read authorises nothing */
export async function landingPermission(
  { reader, standing, describeChange }: PermissionSources,
  { tenant, pair, evaluationKey, expectedOld, candidate }: Landing,
): Promise<LandingPermission> {
  const { authorises, applicability, decision, gate, subjectDigest, epoch } = await standing({ tenant, evaluationKey });
  const no = (reason: string): LandingPermission => ({ authorises: false, reason, epoch });
  if (!authorises) return no(decision === 'pass' ? `the pass is ${applicability}` : `the decision is ${decision}`);
  const subject = await reader.readSubject(tenant, subjectDigest);
  if (!LANDING_GATES.includes(gate)) return no(`a pass of the ${gate} gate lands nothing`);
  if (subject?.missionId !== pair) return no('the pass is about another ticket');
  const { change } = subject;
  if (change?.headDigest !== candidate || change.baseDigest !== expectedOld) {
    return no('the pass is about another commit or another base');
  }
  if (gate !== 'operation') return { authorises, reason: '', epoch };
  if (!isDocumentation(subject)) return no('a pass of the operation gate lands a documentation only');
  const { within } = await describeChange({
    ...{ tenant, pair, base: expectedOld, head: candidate },
    within: DOCUMENTATION_PATHS,
  });
  return within ? { authorises, reason: '', epoch } : no('the pass is about a documentation, and the change is more');
}

/** The gate judges other operations too, and none of those is a change of a repository. */
function isDocumentation({ operation }: SubjectManifest): boolean {
  return operation?.id === DOCUMENTATION_OPERATION.id && operation.version === DOCUMENTATION_OPERATION.version;
}
