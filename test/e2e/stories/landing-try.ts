/** The landing itself, tried with a pass by somebody who has everything that the control worker has. */
import { join } from 'node:path';
import { gitLine } from '../../../activities/git/run.ts';
import { land } from '../../../activities/git/land.ts';
import { landingPermission } from '../../../activities/git/permission.ts';
import { repositoryPath } from '../../../activities/git/repository.ts';
import { publicKeys } from '../../../activities/signing/public-keys.ts';
import { decisionStanding } from '../../../activities/gate/standing.ts';
import { connectStore } from '../../../activities/store/connect.ts';
import { gateReader } from '../../../activities/store/gate-reader.ts';
import { mergeLeases } from '../../../activities/store/merge-lease.ts';
import { KEY_FILES, readSecret } from '../../../local/keys.ts';
import { localStoreUrl } from '../../../local/store.ts';
import { parseDigest } from '../../../schemas/digest.ts';
import type { LandAnswer } from '../../../schemas/git/activities.ts';
import { ticketWorkflowId } from '../../../schemas/workflow-ids.ts';
import type { Stack } from '../stage.ts';

const TENANT = 'local';

/** A pass of the merge gate, and the commit that it is about. */
export interface MergePass {
  readonly evaluationKey: string;
  /** Of the execution in which it was decided. */
  readonly generation: number;
  readonly candidate: string;
}

/** Lands the pass's own candidate on the base that it was judged on, if it authorises that. */
export async function tryLanding(stack: Stack, ticket: string, remote: string, pass: MergePass): Promise<LandAnswer> {
  const connection = await connectStore({
    url: localStoreUrl(stack.state().ports.store),
    user: 'control',
    password: readSecret(join(stack.paths.keys, KEY_FILES.storePassword('control'))),
  });
  try {
    const reader = gateReader(connection);
    const keys = publicKeys(join(stack.paths.keys, KEY_FILES.gatePublic));
    const gitDir = repositoryPath(stack.paths.repositories, TENANT, ticket);
    const { candidate } = pass;
    const base = await gitLine({ gitDir, args: ['rev-parse', '--verify', `${candidate}^1`] });
    return await land(
      gitDir,
      {
        remotes: { allowed: [remote], credentialsFile: null, sshConfigFile: null },
        leases: mergeLeases(connection),
        mayLand: (request) =>
          landingPermission(
            {
              reader,
              standing: (of) => decisionStanding(reader, keys, of),
              describeChange: () => Promise.resolve({ within: false }),
            },
            request,
          ),
      },
      {
        tenant: TENANT,
        pair: ticket,
        remote,
        branch: 'main',
        expectedOld: base,
        candidate,
        holder: ticketWorkflowId({ tenant: TENANT, ticket }),
        evaluationKey: parseDigest('gate-evaluation', pass.evaluationKey),
        epoch: 0,
      },
    );
  } finally {
    await connection.close();
  }
}
