/** The name of a workspace at Coder: from its owner's id alone, so a create that lost its answer finds it again. */
import { contentDigest, digestHex } from '../digest.ts';
import { parseWorkspaceWorkflowId } from '../workflow-ids.ts';

const NAME_DIGITS = 20;

/**
 * `{role}-{20 hex of the digest of the workflow id}`: at most 29 of Coder's 32 characters. Tenant and generation are in the id, so a
 * name is never used twice. It is also the id of the workspace in the store.
 *
 * @example workspaceName('workspace/local/T-1/forge/1') // 'forge-…'
 * @throws `schema_invalid` when the text is not the id of a workspace workflow.
 */
export function workspaceName(run: string): string {
  const { role } = parseWorkspaceWorkflowId(run);
  return `${role}-${digestHex(contentDigest(new TextEncoder().encode(run))).slice(0, NAME_DIGITS)}`;
}
