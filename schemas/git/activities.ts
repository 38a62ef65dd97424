/**
 * The git of a ticket: what workflows ask of the control plane's own bare repository of the pair. Implemented in
 * `activities/git/activities.ts`. Every call is repeatable: the same input again gives the same answer, or names what moved.
 * Contents travel by commit and digest.
 */
import type { ContentDigest, Digest } from '../digest.ts';

/** One pair's repository. */
export interface RepositoryRef {
  readonly tenant: string;
  /** Pair and ticket: their ids are equal. */
  readonly pair: string;
}

export interface CommitRef extends RepositoryRef {
  readonly commit: string;
}

export interface FileRef extends CommitRef {
  /** Of the file, from the root of the tree: `PLAN.md`. */
  readonly path: string;
  readonly maxBytes: number;
}

/** A missing or empty file is an answer, not a failure. */
export type FileAnswer =
  | { readonly state: 'present'; readonly digest: ContentDigest; readonly size: number }
  | { readonly state: 'missing' | 'empty' | 'too_large' | 'no_file' };

/** What a submit claims: this exact commit was pushed to this branch, on top of what was accepted before. */
export interface PushedRef extends CommitRef {
  readonly branch: string;
  /** The commit that it has to build on: the last accepted one, at first the base. */
  readonly after: string;
}

export type PushedAnswer =
  | { readonly pushed: true; readonly tree: string }
  | { readonly pushed: false; readonly reason: 'unknown_commit' | 'not_on_branch' | 'not_after' };

/** Two commits of the repository, the change going from one to the other. */
export interface ChangeRef extends RepositoryRef {
  readonly base: string;
  readonly head: string;
}

/** How much of a change is listed. */
export const CHANGED_PATHS_LIMIT = 500;

export interface ChangeAnswer {
  readonly tree: string;
  /** Over every changed path with its modes and object ids, renames not guessed: `change.diffDigest` of a subject. */
  readonly diffDigest: ContentDigest;
  /** The first {@link CHANGED_PATHS_LIMIT}, sorted by their bytes. */
  readonly paths: readonly string[];
  readonly pathCount: number;
  /** Whether every changed path is below one of the prefixes asked for; false for an empty change. */
  readonly within: boolean;
}

export interface ChangeRequest extends ChangeRef {
  /** `docs/`, `CHANGELOG.md`: a prefix that ends in `/` is a directory, any other one file. */
  readonly within: readonly string[];
}

export interface CandidateRequest extends ChangeRef {
  readonly message: string;
  /**
   * `true`, the default of a ticket: one commit on top of the base, which names the judged head in its message. `false`: a merge
   * commit of base and head. The tree is the same.
   */
  readonly squash: boolean;
  /** Milliseconds since the epoch, given by the workflow: the date of the commit. */
  readonly at: number;
}

export type CandidateAnswer =
  | {
      readonly kind: 'candidate';
      readonly commit: string;
      readonly tree: string;
      readonly base: string;
      readonly head: string;
    }
  | {
      readonly kind: 'conflict';
      /** In which files; empty when base and head have no history in common. */
      readonly paths: readonly string[];
      readonly reason: string;
    }
  /** The head adds nothing to the base. */
  | { readonly kind: 'nothing' };

/** Where a branch is landed: `null` is the pair's own repository, a text a remote that the installation allows. */
export type RemoteName = string | null;

export interface BaseRequest extends RepositoryRef {
  readonly remote: RemoteName;
  readonly branch: string;
  /** With `remote: null`: what the branch starts from when it is not there yet. */
  readonly initial: string | null;
}

export interface BaseAnswer {
  readonly commit: string;
}

/** What is to be landed, and where. */
export interface Landing extends RepositoryRef {
  readonly remote: RemoteName;
  readonly branch: string;
  /** The judged base: what the branch has to be at. */
  readonly expectedOld: string;
  /** The judged candidate, made by `makeCandidate` of exactly that base. */
  readonly candidate: string;
  /** Whoever lands: the ticket's workflow id. */
  readonly holder: string;
  /** The pass that authorises it; asked again right before the ref moves. */
  readonly evaluationKey: Digest<'gate-evaluation'>;
}

export interface LandRequest extends Landing {
  /** `authority:epoch` as it was read for the intent. */
  readonly epoch: number;
}

/** Whether the decision authorises landing exactly this candidate on this base now, and the epoch that was read with it. */
export interface LandingPermission {
  readonly authorises: boolean;
  readonly reason: string;
  readonly epoch: number;
}

export type LandAnswer =
  | {
      readonly outcome: 'landed';
      readonly commit: string;
      readonly fencing: number;
      /** `authority:epoch` before and after; `null`: an attempt before this one landed it and was not heard. */
      readonly epoch: { readonly before: number; readonly after: number } | null;
      /** Authority changed under the landing, or no longer holds (spec/gate.md section 5). */
      readonly incident: boolean;
    }
  | { readonly outcome: 'base_moved'; readonly now: string | null }
  /** Nothing moved. `authority`: the decision no longer applies, or the kill switch is on; `remote`: it said no. */
  | { readonly outcome: 'refused'; readonly by: 'authority' | 'remote' | 'candidate'; readonly reason: string }
  /** Somebody else lands on this branch now; ask again. */
  | { readonly outcome: 'busy'; readonly retryAfterMs: number };

export interface BranchPlacement extends CommitRef {
  readonly branch: string;
}

export interface PlacedBranch {
  /** What was pushed beyond the commit, and can still be fetched by its former ref; `null` for nothing. */
  readonly former: string | null;
}

export interface MirrorRequest extends CommitRef {
  readonly remote: string;
  readonly branch: string;
}

/** On the tenant's control queue. */
export interface GitActivities {
  /** @throws `not_found` when the commit is not there */
  readFile(of: FileRef): Promise<FileAnswer>;
  checkPushed(of: PushedRef): Promise<PushedAnswer>;
  /** @throws `not_found` */
  describeChange(of: ChangeRequest): Promise<ChangeAnswer>;
  /** @throws `not_found` */
  makeCandidate(request: CandidateRequest): Promise<CandidateAnswer>;
  /** Takes in the newest base. @throws `not_found`, `remote_refused`, `remote_unavailable` */
  fetchBase(request: BaseRequest): Promise<BaseAnswer>;
  /** Asked for the intent, before anything moves. @throws `not_found`, `record_unreadable`, `store_unavailable` */
  mayLand(landing: Landing): Promise<LandingPermission>;
  /**
   * Moves the branch from the judged base to the judged candidate, or says why not. An answer that did not arrive is resolved by
   * reading back. Whatever it throws, the branch may have moved: only calling again tells. @throws `remote_unavailable` when it
   * cannot be read back, `remote_refused` when the settings do not allow to
   */
  land(request: LandRequest): Promise<LandAnswer>;
  /** Puts a producer's branch on this commit, as an execution starts; what it had is kept. @throws `not_found` */
  placeBranch(placement: BranchPlacement): Promise<PlacedBranch>;
  /** Puts a producer's branch on the remote, for a pull request; no other branch. @throws `remote_refused`, `remote_unavailable` */
  mirrorBranch(request: MirrorRequest): Promise<void>;
}
