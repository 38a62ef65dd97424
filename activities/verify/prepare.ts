/** Pins what will run: the commit's tree and definition files from our own repository, and the signed action. */
import { evaluateCommand } from '../../policies/commands/evaluate.ts';
import { portcullisError } from '../../schemas/errors.ts';
import type { Action } from '../../schemas/verify/action.ts';
import type { PreparedRun } from '../../schemas/verify/activities.ts';
import type { AcceptedRequest } from '../../schemas/verify/request.ts';
import { pairRepository } from '../git/repository.ts';
import { signAction } from '../signing/action.ts';
import type { VerifyDependencies } from './dependencies.ts';

export type PrepareDependencies = Pick<VerifyDependencies, 'repositoriesDir' | 'commandPolicy' | 'actionKey'> & {
  readonly store: Pick<VerifyDependencies['store'], 'confirmStarted' | 'readHead'>;
};

/** How long after its dispatch an action may still be started, beyond the wait for its turn. */
const START_GRACE_MS = 10 * 60_000;

/** @throws `policy_mismatch` when the policy that admitted the request is not the one held here, `not_found` */
export async function prepareRun(needs: PrepareDependencies, accepted: AcceptedRequest): Promise<PreparedRun> {
  const { request } = accepted;
  const ruling = evaluateCommand(needs.commandPolicy.policy, {
    argv: request.argv,
    cwd: request.cwd,
    timeoutSecs: request.timeoutSecs,
    expectExitCode: request.expect.exitCode,
    artifacts: request.expect.artifacts,
  });
  if (
    !ruling.allowed ||
    ruling.template !== accepted.policy.template ||
    accepted.policy.digest !== needs.commandPolicy.digest
  ) {
    throw portcullisError('policy_mismatch');
  }
  await needs.store.confirmStarted(accepted);
  const repository = pairRepository(needs.repositoriesDir, request.tenant, request.pair);
  const { headSha } = request.subject;
  const head = await needs.store.readHead(request.tenant, request.pair);
  const [treeBefore, definitions] = await Promise.all([
    repository.treeOf(headSha),
    repository.definitions(ruling.definitionFiles, head?.baseSha ?? null, headSha),
  ]);
  const action: Action = {
    schema: 'portcullis/action/v1',
    tenant: request.tenant,
    pair: request.pair,
    taskId: accepted.taskId,
    requestDigest: accepted.requestDigest,
    policy: accepted.policy,
    cwd: request.cwd,
    argvRequested: request.argv,
    argvExecuted: ruling.argvExecuted,
    environment: ruling.environment,
    limits: ruling.limits,
    artifacts: request.expect.artifacts,
    counts: ruling.counts,
    prepare: ruling.prepare,
    subject: request.subject,
    executor: {
      role: request.executor,
      workspace: accepted.workspace,
      workspaceGeneration: accepted.workspaceGeneration,
    },
    notAfter: Date.now() + START_GRACE_MS,
  };
  return { signed: signAction(action, needs.actionKey), treeBefore, definitions };
}
