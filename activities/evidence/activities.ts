/** The activities around evidence, bound to what they need. */
import type { EvidenceActivities } from '../../schemas/gate/activities.ts';
import { decisionStanding } from '../gate/standing.ts';
import { openAttempt, recordCheck } from './checks.ts';
import type { EvidenceDependencies } from './dependencies.ts';
import { recordDispositions, recordFindings } from './findings.ts';
import { recordHumanDecision } from './humans.ts';
import { gateRequirements } from './policies.ts';
import { preflightSubject } from './preflight.ts';
import { recordGrant, recordRun, revokeAuthority } from './runs.ts';
import { registerSubject } from './subjects.ts';

export function evidenceActivities(needs: EvidenceDependencies): EvidenceActivities {
  const { evidence, gateKeys } = needs;
  return {
    gateRequirements: (of) => gateRequirements(needs, of),
    registerSubject: (of) => registerSubject(needs, of),
    openAttempt: (request) => openAttempt(needs, request),
    recordCheck: (record) => recordCheck(needs, record),
    recordRun: (of) => recordRun(needs, of),
    recordFindings: (record) => recordFindings(needs, record),
    recordDispositions: (record) => recordDispositions(needs, record),
    recordHumanDecision: (of) => recordHumanDecision(needs, of),
    recordGrant: (of) => recordGrant(needs, of),
    revokeAuthority: (revocation) => revokeAuthority(needs, revocation),
    preflightSubject: (subject) => preflightSubject(needs, subject),
    readDecision: ({ tenant, evaluationKey }) => evidence.readDecision(tenant, evaluationKey),
    decisionApplies: (of) => decisionStanding(evidence, gateKeys, of),
  };
}
