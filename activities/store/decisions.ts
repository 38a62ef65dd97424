/** Decisions as the gate worker writes them (user `gate`, the only one that can). */
import type { AuditHead } from '../../schemas/audit.ts';
import { digestHex } from '../../schemas/digest.ts';
import type { SignedGateDecision } from '../../schemas/gate/decision.ts';
import { GLOBAL_KILL_SWITCH, keysOf } from '../../schemas/keys.ts';
import { appendAuditOnce, chainArgs, chainKeys, readAuditHead, withChainStep, type MakeEntry } from './audit-chain.ts';
import type { StoreConnection } from './connect.ts';
import type { DecisionOutcome, DecisionStore } from './gate-port.ts';
import { RedisGateReader } from './gate-reader.ts';
import { recordText } from './records/read.ts';
import { CONTRADICT, DECIDE } from './scripts/decision.ts';
import { runScript, unexpectedReply } from './scripts/script.ts';

/** Needs a connection of the user `gate`. */
export function decisionStore(connection: StoreConnection): DecisionStore {
  return new RedisDecisionStore(connection);
}

class RedisDecisionStore extends RedisGateReader implements DecisionStore {
  async writeDecision(signed: SignedGateDecision, audit: MakeEntry): Promise<DecisionOutcome> {
    const { tenant, evaluationKey, subjectDigest } = signed.decision;
    const keys = keysOf(tenant);
    let reason = '';
    const { answer } = await withChainStep(this.connection, tenant, audit, async (step) => {
      const n = (await this.decisionsOf(tenant, subjectDigest)).length + 1;
      const [word, why] = await runScript(
        this.connection,
        DECIDE,
        {
          decision: keys.decision(evaluationKey),
          pointer: keys.decisionOf(subjectDigest, n),
          killAll: GLOBAL_KILL_SWITCH,
          killTenant: keys.killSwitch,
          ...chainKeys(keys.auditHead, step),
        },
        { decisionText: recordText(signed), evaluationKey, ...chainArgs(step) },
      );
      reason = why ?? '';
      return word ?? '';
    });
    switch (answer) {
      case 'written':
      case 'exists':
        return { kind: answer };
      case 'kill_switch':
        return { kind: answer, reason };
      default:
        return unexpectedReply([answer]);
    }
  }

  async writeContradiction(signed: SignedGateDecision, audit: MakeEntry): Promise<void> {
    const { tenant, evaluationKey } = signed.decision;
    const keys = keysOf(tenant);
    const { answer } = await withChainStep(this.connection, tenant, audit, async (step) => {
      const [word] = await runScript(
        this.connection,
        CONTRADICT,
        {
          mark: keys.contradicted(evaluationKey),
          record: keys.contradiction(evaluationKey, signed.digest),
          ...chainKeys(keys.auditHead, step),
        },
        { markText: digestHex(signed.digest), recordText: recordText(signed), ...chainArgs(step) },
      );
      return word ?? '';
    });
    if (answer !== 'written' && answer !== 'same') unexpectedReply([answer]);
  }

  appendAuditOnce(tenant: string, audit: MakeEntry): Promise<void> {
    return appendAuditOnce(this.connection, tenant, audit);
  }

  readAuditHead(tenant: string): Promise<AuditHead> {
    return readAuditHead(this.connection, tenant);
  }
}
