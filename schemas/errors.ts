/**
 * The one catalogue of errors: code, sentence, and what each edge answers (HTTP status, gRPC code, A2A/JSON-RPC code,
 * exit code). `docs/reference/errors.md` is generated from it and a test walks it.
 *
 * @example throw portcullisError('not_found', { what: 'task', id })
 */
import { shortened } from './text.ts';

/** Numbers each edge answers with. Exit codes: spec/cli.md. gRPC codes by number, so that this stays free of gRPC. */
export interface ErrorEdge {
  readonly http: number;
  readonly grpc: number;
  /** JSON-RPC code of the A2A binding. */
  readonly rpc: number;
  readonly exit: number;
}

interface ErrorEntry extends ErrorEdge {
  /** One sentence; `{name}` is filled from the details. */
  readonly message: string;
  /** What the reader can do about it. */
  readonly mend: string;
}

const bad = { http: 400, grpc: 3, rpc: -32602, exit: 2 } as const;
const refused = { http: 403, grpc: 7, rpc: -32602, exit: 3 } as const;
const denied = { http: 403, grpc: 7, rpc: -32001, exit: 7 } as const;
const missing = { http: 404, grpc: 5, rpc: -32001, exit: 6 } as const;
const away = { http: 503, grpc: 14, rpc: -32603, exit: 5 } as const;
const local = { http: 500, grpc: 13, rpc: -32603, exit: 1 } as const;

export const ERROR_CATALOGUE = {
  // Input that cannot be read
  usage: { ...bad, message: '{reason}', mend: 'See --help of the command.' },
  schema_invalid: { ...bad, message: '{path} {reason}.', mend: 'Correct the named field and send it again.' },
  json_malformed: { ...bad, rpc: -32700, message: 'The body is not JSON: {reason}.', mend: 'Send one JSON document.' },
  json_not_utf8: {
    ...bad,
    rpc: -32700,
    message: 'The body is not UTF-8.',
    mend: 'Send UTF-8 without a byte order mark.',
  },
  json_repeated_key: {
    ...bad,
    message: 'The key {key} is there twice.',
    mend: 'Send each key once; readers differ on which copy counts.',
  },
  json_too_deep: { ...bad, message: 'The document is nested deeper than {limit} levels.', mend: 'Flatten it.' },
  body_too_large: { ...bad, http: 413, message: 'The body is larger than {limit} bytes.', mend: 'Send less.' },
  bundle_too_large: {
    ...bad,
    http: 413,
    message: 'The bundle is larger than {limit} bytes, the most that one import takes in.',
    mend: 'Raise `import.max-mb`, or bring less history: `git clone --depth 2` of it has the commit and its parent.',
  },
  disk_full: {
    ...away,
    http: 507,
    grpc: 8,
    message: 'The disk has {free} bytes free, and {needed} are needed.',
    mend: 'Make room where the control plane keeps its repositories and incoming bundles, then try again.',
  },
  rpc_invalid: {
    ...bad,
    rpc: -32600,
    message: 'The body is not a JSON-RPC request: {reason}.',
    mend: 'Send one object with jsonrpc "2.0", id, method and params.',
  },
  canonical_unsupported: {
    ...bad,
    message: '{path} has no canonical form: it {reason}.',
    mend: 'Use plain objects, lists, strings, booleans and safe integers.',
  },
  // Requests that policy refuses
  tool_unknown: { ...refused, message: 'No tool is called {tool}.', mend: 'See `portcullis policy list`.' },
  template_mismatch: {
    ...refused,
    message: 'No command template matches this argv: {reason}.',
    mend: 'Ask for one of the commands that `portcullis policy list` shows, whole, without further flags.',
  },
  slot_invalid: { ...refused, message: 'The value of {slot} is not permitted: {reason}.', mend: 'Use a plain name.' },
  cwd_invalid: { ...refused, message: 'The working directory is not permitted: {reason}.', mend: 'Use cwd "repo".' },
  expect_not_permitted: {
    ...refused,
    message: 'This template does not permit the expected exit code {code}.',
    mend: 'Expect a code that the template permits (usually 0).',
  },
  limit: { ...refused, message: 'The request exceeds a limit: {reason}.', mend: 'Ask for less.' },
  gate_policy_refused: {
    ...refused,
    message: 'The gate policy is refused: {path} {reason}.',
    mend: 'See every problem with `portcullis policy lint FILE`.',
  },
  pair_mismatch: { ...denied, message: 'The credential is not of this pair.', mend: 'Ask within your own pair.' },
  role: {
    ...denied,
    message: 'The role {role} may not do this: {reason}.',
    mend: 'Use a credential of the right role.',
  },
  kill_switch: {
    ...away,
    http: 403,
    message: 'The kill switch is on: {reason}.',
    mend: 'An operator can turn it off: portcullis kill-switch off.',
  },
  policy_mismatch: {
    ...refused,
    message: 'The executor holds another policy than the one that admitted this request.',
    mend: 'Restart the stack (portcullis down, then portcullis up), so that gateway, control and workspace hold the same revision.',
  },
  store_full: {
    ...away,
    message: 'The store is above 80 % of its memory, so nothing new is admitted.',
    mend: 'Raise maxmemory or let retention run.',
  },
  // Authority
  unauthenticated: {
    ...denied,
    http: 401,
    grpc: 16,
    message: 'No valid credential came with the call.',
    mend: 'Send the bearer of a credential that is neither expired nor revoked.',
  },
  not_allowed: {
    ...denied,
    message: 'This credential may not {action}.',
    mend: 'Use a credential of the right use and role.',
  },
  claim_code_invalid: {
    ...denied,
    http: 401,
    grpc: 16,
    message: 'The claim code is unknown, used or expired.',
    mend: 'Ask the control plane for a fresh workspace; a code is good once.',
  },
  approval_unknown: {
    ...denied,
    message: 'This approval is not one that you may answer.',
    mend: 'Read your context again: it names the approval of this review, and its token.',
  },
  approval_used: {
    ...bad,
    http: 409,
    grpc: 9,
    message: 'The approval was used before.',
    mend: 'Nothing to do: one answer counts, and there was one.',
  },
  approval_expired: {
    ...bad,
    http: 410,
    grpc: 9,
    message: 'The approval is {reason}.',
    mend: 'Read your context again: a changed plan, round or head needs a new review.',
  },
  review_unfit: {
    ...bad,
    http: 409,
    grpc: 9,
    message: 'The appended review does not say {verdict}: {reason}.',
    mend: 'End the review with one fenced json block that says the verdict, append it, and answer again.',
  },
  rpc_refused: {
    ...denied,
    message: 'The door does not pass {method}.',
    mend: 'An executor polls and answers its own queue only.',
  },
  queue_foreign: {
    ...denied,
    message: 'This credential may not poll that queue.',
    mend: 'Poll the queue of your own workspace.',
  },
  token_unsealed: {
    ...missing,
    message: 'The task token is not one that this door sealed for you.',
    mend: 'Answer the task you were given.',
  },
  signature_invalid: {
    ...denied,
    message: 'The signature of {what} does not verify.',
    mend: 'Do not run it; report it.',
  },
  // Look-ups and conflicts
  not_found: { ...missing, message: 'There is no {what} {id}.', mend: 'Check the id.' },
  message_id_conflict: {
    ...bad,
    http: 409,
    grpc: 6,
    message: 'The messageId was used before with another body.',
    mend: 'Use a new messageId for a new request.',
  },
  task_not_cancelable: {
    ...bad,
    http: 400,
    grpc: 9,
    rpc: -32002,
    message: 'The task has already ended as {state}.',
    mend: 'Nothing to do: a terminal state never changes.',
  },
  unsupported_operation: {
    ...bad,
    grpc: 9,
    rpc: -32004,
    message: 'Not supported: {reason}.',
    mend: 'See the agent card for what is.',
  },
  push_not_supported: {
    ...bad,
    grpc: 9,
    rpc: -32003,
    message: 'Push notifications are off.',
    mend: 'Subscribe to the task, or get it with afterSeq.',
  },
  content_type_not_supported: {
    ...bad,
    rpc: -32005,
    message: 'The part is not a verify request: {reason}.',
    mend: 'Send exactly one data part.',
  },
  extension_required: {
    ...bad,
    grpc: 9,
    rpc: -32008,
    message: 'The extension {uri} is required.',
    mend: 'Name it in the A2A-Extensions header.',
  },
  version_not_supported: {
    ...bad,
    grpc: 9,
    rpc: -32009,
    message: 'A2A version {version} is not spoken here; 1.0 is.',
    mend: 'Send the header A2A-Version: 1.0 (a missing header means 0.3).',
  },
  state_conflict: {
    ...bad,
    http: 409,
    grpc: 9,
    message: '{what} changed meanwhile.',
    mend: 'Read it again and retry.',
  },
  ticket_stale: {
    ...bad,
    http: 409,
    grpc: 9,
    exit: 8,
    message: '{event} was decided on revision {revision}, but the ticket is at {current}.',
    mend: 'Read the ticket again and decide on what it is now.',
  },
  ticket_phase: {
    ...bad,
    http: 409,
    grpc: 9,
    exit: 3,
    message: '{event} has no place while the ticket is {phase}.',
    mend: 'See what it waits for: portcullis ticket why ID.',
  },
  ticket_ended: {
    ...bad,
    http: 409,
    grpc: 9,
    exit: 3,
    message: 'The ticket has ended as {phase}.',
    mend: 'Nothing to do: an ended ticket never changes.',
  },
  ticket_mismatch: {
    ...bad,
    http: 409,
    grpc: 9,
    exit: 3,
    message: '{event} is about another {what} than the ticket: {given} instead of {expected}.',
    mend: 'Read the ticket again; what it is about is named in its state.',
  },
  candidate_unchanged: {
    ...bad,
    http: 409,
    grpc: 9,
    exit: 3,
    message: 'The commit {commit} was sent back before and nothing has changed.',
    mend: 'Change what the feedback names, push, and submit the new commit.',
  },
  merge_in_progress: {
    ...bad,
    http: 409,
    grpc: 9,
    exit: 3,
    message: 'The merge of {candidate} is under way; {event} has to wait for its answer.',
    mend: 'Wait until the landing is answered, then decide again.',
  },
  override_refused: {
    ...refused,
    message: 'No override of the {gate} gate: {reason}.',
    mend: 'See what its policy lets people override: portcullis gate why ID.',
  },
  submission_unavailable: {
    ...away,
    message:
      'What was submitted could not be looked at ({reason}); nothing was changed and nothing is remembered of it.',
    mend: 'Send the same again in a moment.',
  },
  check_unknown: {
    ...refused,
    message: 'The ticket asks for the check {check}, and {reason}.',
    mend: 'Name a check of the gates as its definition does, with its command: docs/reference/gate-policies.md.',
  },
  history_invalid: {
    ...bad,
    message: '{file} is not a workflow history: {reason}.',
    mend: 'Export one with: temporal workflow show --output json.',
  },
  // What runs can come to
  executor_unavailable: {
    ...away,
    message: 'No executor is available ({reason}).',
    mend: 'Nothing ran. Unknown is not a pass: see that the workspace runs, then ask again.',
  },
  executor_lost: {
    ...away,
    message: 'The executor was lost while the command ran.',
    mend: 'What happened is unknown; ask again with a new attempt.',
  },
  failed_to_start: { ...away, message: 'The command could not be started: {reason}.', mend: 'See the reason.' },
  prepare_failed: { ...away, message: 'Preparing dependencies failed: {reason}.', mend: 'See the reason.' },
  egress_refused: {
    ...refused,
    message: 'The egress does not pass this: {reason}.',
    mend: 'Ask for what a registry serves.',
  },
  egress_failed: {
    ...away,
    http: 502,
    message: 'The registry cannot be reached or used: {reason}.',
    mend: 'See that the egress runs and that the registries of its machine answer.',
  },
  model_refused: {
    ...refused,
    message: 'The way to the model does not pass this: {reason}.',
    mend: "Ask the model of your role by its API's calls, and only while something is asked of you.",
  },
  model_failed: {
    ...away,
    http: 502,
    message: "The model's host cannot be reached or used: {reason}.",
    mend: "See that the egress runs and that the role's model host answers.",
  },
  completed_unpersisted: {
    ...away,
    message: 'The run ended but its result is not persisted yet.',
    mend: 'Wait: it is mirrored as soon as the store answers.',
  },
  missing_artifact: { ...away, message: 'The required artifact {path} is missing.', mend: 'It is needed as evidence.' },
  // Dependencies
  store_unavailable: {
    ...away,
    message: 'The store does not answer ({reason}).',
    mend: 'Nothing was accepted. Retry in a moment.',
  },
  record_unreadable: {
    ...local,
    message: 'The stored {what} cannot be read: {reason}.',
    mend: 'It counts as a refusal. Something wrote it that should not, or a newer version did.',
  },
  store_unsafe: {
    ...local,
    message: 'The store is not set up to keep what it acknowledges: {reason}.',
    mend: 'Needed: appendonly yes, appendfsync always, maxmemory-policy noeviction, no cluster mode, and a user default that may write (off is fine).',
  },
  temporal_unavailable: {
    ...away,
    message: 'Temporal does not answer ({reason}).',
    mend: 'Nothing was accepted. Retry in a moment.',
  },
  gateway_unavailable: {
    ...away,
    message: 'The gateway does not answer at {url}.',
    mend: 'Start the stack: portcullis up.',
  },
  rate_limited: {
    ...away,
    http: 429,
    grpc: 8,
    message: 'Too many calls with this credential.',
    mend: 'Slow down and retry.',
  },
  // Coder
  coder_unavailable: {
    ...away,
    message: 'Coder does not answer {operation} ({reason}).',
    mend: 'What was asked may have happened: read it back. See `portcullis doctor`.',
  },
  coder_rate_limited: {
    ...away,
    http: 429,
    grpc: 8,
    message: 'Coder takes no more {operation} for {seconds} s.',
    mend: 'It is limited for each user and path; wait that long.',
  },
  coder_unreadable: {
    ...local,
    message: 'The answer of Coder to {operation} cannot be read: {reason}.',
    mend: 'Compare its version with the one that was checked; a proxy in between answers like this too.',
  },
  coder_unauthenticated: {
    ...local,
    message: 'Coder does not accept the token for {operation}.',
    mend: 'Give the control plane a token that has not expired.',
  },
  coder_forbidden: {
    ...local,
    message: 'Coder does not permit {operation} to this identity.',
    mend: 'See `portcullis doctor` for the scopes and roles that are missing.',
  },
  coder_unseen: {
    ...missing,
    message: 'Coder shows nothing for {operation}: it is absent, or not visible to this identity.',
    mend: 'Check the id, then the scopes of the token.',
  },
  coder_gone: { ...missing, http: 410, message: 'Coder has deleted it ({operation}).', mend: 'Nothing to do.' },
  coder_conflict: {
    ...away,
    http: 409,
    message: 'Coder is in another state than {operation} needs.',
    mend: 'Read it again, wait for its active build, then decide.',
  },
  coder_refused: {
    ...bad,
    message: 'Coder refuses {operation} with {status} (fields: {fields}).',
    mend: 'Correct the named fields.',
  },
  coder_name_taken: {
    ...local,
    message: 'The workspace name {name} is held by another: its {differs} differs.',
    mend: 'Names are made from the workflow id, so something else made it: look before deleting.',
  },
  coder_name_spent: {
    ...local,
    message: 'A workspace called {name} was deleted before.',
    mend: 'A name is never reused: ask for a new generation.',
  },
  coder_parameter_invalid: {
    ...bad,
    message: 'The template does not take the parameter {name}: {reason}.',
    mend: 'Coder ignores unknown names without a word, so they are refused here.',
  },
  coder_not_configured: {
    ...local,
    message: 'No Coder server is set up here, so no workspace can be made.',
    mend: 'Set coder.url and the token of its lifecycle identity, then start the control worker again.',
  },
  workspace_refused: {
    ...refused,
    message: 'A {role} workspace like this is not permitted: {reason}.',
    mend: 'See policies/workspaces/registry.json for what a ticket may ask for.',
  },
  workspace_template_refused: {
    ...local,
    message: 'The template {template} cannot be used for workers: {reason}.',
    mend: 'Correct the template at Coder; see docs/operations.',
  },
  // The forge
  remote_refused: {
    ...refused,
    message: 'The git remote is refused: {reason}.',
    mend: 'Name a remote that `git.remotes` allows, with a branch that takes what is sent.',
  },
  remote_unavailable: {
    ...away,
    message: 'The git remote does not answer ({reason}).',
    mend: 'What was asked may have happened: it is read back before anything is sent again.',
  },
  // This machine
  binary_missing: { ...local, message: 'The program {program} is not here.', mend: '{how}' },
  setting_invalid: { ...bad, message: 'The setting {name} {reason}.', mend: 'See `portcullis config show`.' },
  stack_not_running: { ...local, exit: 5, message: 'No local stack runs here.', mend: 'Start one: portcullis up.' },
  stack_start_failed: { ...local, message: '{part} did not become ready: {reason}.', mend: 'See its log: {log}.' },
  repository_invalid: {
    ...bad,
    message: '{path} is not usable as a repository: {reason}.',
    mend: 'Name a git repository with a commit.',
  },
  workspace_start_failed: {
    ...away,
    message: 'The workspace did not start: {reason}.',
    mend: 'See `portcullis doctor`.',
  },
  sandbox_unavailable: {
    ...away,
    message: 'No sandbox can be made here: {reason}.',
    mend: 'Install bubblewrap and allow user namespaces; see `portcullis doctor`.',
  },
  stream_cut: {
    ...local,
    exit: 9,
    message: 'The stream was cut before the end.',
    mend: 'Watch again: it resumes where it stopped.',
  },
  waited_too_long: {
    ...local,
    exit: 9,
    message: 'Waited {seconds} s for {what}.',
    mend: 'It may still end; look at it later.',
  },
  interrupted: {
    ...local,
    exit: 130,
    message: 'Interrupted.',
    mend: 'What was started goes on unless it says otherwise.',
  },
  replay_failed: {
    ...local,
    message: '{failed} of {total} histories do not replay.',
    mend: 'Guard the change with patched().',
  },
  internal: {
    ...local,
    message: 'Something unexpected failed.',
    mend: 'See the log; run again with --debug for a stack.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;
export type ErrorDetails = Readonly<Record<string, string | number | boolean>>;

/** An error of the catalogue. `message` is the filled sentence; `details` hold what filled it. */
export class PortcullisError extends Error {
  override readonly name = 'PortcullisError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, details: ErrorDetails = {}, cause?: unknown) {
    super(fill(ERROR_CATALOGUE[code].message, details), cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }

  /** What to do about it, filled like the message. */
  get mend(): string {
    return fill(ERROR_CATALOGUE[this.code].mend, this.details);
  }

  get edge(): ErrorEdge {
    return ERROR_CATALOGUE[this.code];
  }
}

export function portcullisError(code: ErrorCode, details: ErrorDetails = {}, cause?: unknown): PortcullisError {
  return new PortcullisError(code, details, cause);
}

/** True for codes of the catalogue; for text that crossed a process border. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERROR_CATALOGUE, text);
}

/** Any thrown thing as an error of the catalogue: unknown ones become `internal` and keep their cause. */
export function asPortcullisError(thrown: unknown): PortcullisError {
  if (thrown instanceof PortcullisError) return thrown;
  return new PortcullisError('internal', {}, thrown);
}

function fill(template: string, details: ErrorDetails): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => shortened(String(details[name] ?? `(${name})`), 512));
}
