/**
 * How often one workspace may speak to its ticket. A ticket's workflow takes few requests at once and so many in all, so a
 * workspace that could send any number would keep its operator and its reviewer out.
 */
import { portcullisError } from '../../schemas/errors.ts';
import type { Principal } from '../authority/authenticate.ts';

export interface Submission {
  readonly agent: Pick<Principal, 'tenant' | 'pair' | 'role' | 'workspaceGeneration'>;
  /** Of the assignment that it answers. */
  readonly revision: number;
  /** Of the request: the same one again is the same submission. */
  readonly id: string;
}

/** Workspaces that are remembered; the longest silent is forgotten first. */
const MAX_WORKSPACES = 10_000;

/** Of this replica: the ticket has bounds of its own, for what it forgets. */
export class Submissions {
  readonly #perRevision: number;
  readonly #underWay = new Set<string>();
  readonly #sent = new Map<string, { readonly revision: number; readonly ids: ReadonlySet<string> }>();

  /** @param perRevision how many different ones a workspace may send for one revision of what it is asked */
  constructor(perRevision: number) {
    this.#perRevision = perRevision;
  }

  /**
   * Sends one. Repeating it costs nothing.
   * @throws `rate_limited` while one of this workspace is under way, `limit` for one too many; then nothing is sent
   */
  async send<T>({ agent, revision, id }: Submission, work: () => Promise<T>): Promise<T> {
    const workspace = [agent.tenant, agent.pair, agent.role, agent.workspaceGeneration].join('/');
    if (this.#underWay.has(workspace)) throw portcullisError('rate_limited');
    this.#count(workspace, revision, id);
    this.#underWay.add(workspace);
    try {
      return await work();
    } finally {
      this.#underWay.delete(workspace);
    }
  }

  #count(workspace: string, revision: number, id: string): void {
    const sent = this.#sent.get(workspace);
    const ids = new Set(sent?.revision === revision ? sent.ids : []).add(id);
    if (ids.size > this.#perRevision) {
      throw portcullisError('limit', { reason: `${this.#perRevision} different submissions for one assignment` });
    }
    // Set again at the end, so that the map stays in order of use.
    this.#sent.delete(workspace);
    this.#sent.set(workspace, { revision, ids });
    const [oldest] = this.#sent.keys();
    if (this.#sent.size > MAX_WORKSPACES && oldest !== undefined) this.#sent.delete(oldest);
  }
}
