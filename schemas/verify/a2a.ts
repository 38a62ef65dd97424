/**
 * What the A2A front and its clients agree on beyond A2A 1.0 itself: the verify extension, its headers, media types and the
 * metadata it puts on tasks and events (spec/delegated-verification.md section 5).
 */
import type { NumberedTaskEvent, TaskPhase } from './task.ts';
import type { VerifyStatus } from './result.ts';

/** The extension; required on every operation, echoed on every answer. A breaking change is a new URI. */
export const VERIFY_EXTENSION = 'urn:portcullis:a2a:verify:v1';

export const A2A_HEADERS = {
  version: 'A2A-Version',
  extensions: 'A2A-Extensions',
  /** GetTask: answer the events after this number too. The query parameter `afterSeq` says the same. */
  afterSeq: 'Portcullis-After-Seq',
} as const;

/** In the metadata of an error's google.rpc.ErrorInfo: the catalogue's code. */
export const A2A_ERROR_CODE_FIELD = 'portcullis_code';

/** Where the gateway serves A2A; clients take the bindings' addresses from the card. */
export const A2A_PATHS = {
  card: '/.well-known/agent-card.json',
  rest: '/a2a/v1',
  rpc: '/a2a/rpc',
} as const;

export const VERIFY_MEDIA_TYPES = {
  request: 'application/vnd.portcullis.verify-request+json',
  result: 'application/vnd.portcullis.verify-result+json',
} as const;

/** The artifact that holds the result. */
export const RESULT_ARTIFACT = 'verify-result';

/** `metadata[VERIFY_EXTENSION]` of a task. */
export interface TaskMetadata {
  /** Number of the last event that the task contains. 0: none yet. */
  readonly seq: number;
  readonly phase: TaskPhase;
  /** What it waits for, or why it ended. */
  readonly detail: string;
  readonly outcome: VerifyStatus | null;
  readonly requestDigest: string;
  readonly pair: string;
  /** Whether the result answers the requester; `null` while there is none. */
  readonly satisfied: boolean | null;
  /** Code of the catalogue when policy refused the request. */
  readonly refusal?: string;
  /** With `afterSeq`: the events after it, in order. */
  readonly events?: readonly NumberedTaskEvent[];
  /** With `afterSeq`: there are more; ask again after the last one. */
  readonly more?: boolean;
}

/** `metadata[VERIFY_EXTENSION]` of an event in a stream. */
export interface EventMetadata {
  readonly seq: number;
  /** Milliseconds, by the store's clock. */
  readonly at: number;
  readonly phase?: TaskPhase;
  readonly outcome?: VerifyStatus | null;
  readonly satisfied?: boolean | null;
  /** Output events: index of the chunk and how many bytes it holds. */
  readonly chunk?: number;
  readonly bytes?: number;
}

/** Path of a stored chunk of a task's output, read with the credential that may read the task. */
export function outputChunkPath(task: string, stream: string, chunk: number): string {
  return `${A2A_PATHS.rest}/tasks/${encodeURIComponent(task)}/output/${stream}/${chunk}`;
}
