/** How an error of the catalogue is answered on each A2A binding. Always JSON, never a stack. */
import type { ErrorCode, PortcullisError } from '../../schemas/errors.ts';
import { A2A_ERROR_CODE_FIELD } from '../../schemas/verify/a2a.ts';
import type { Binding } from './call.ts';

/** Errors that A2A 1.0 itself names. Every other keeps its name from the catalogue, under our own domain. */
const A2A_REASONS: Readonly<Partial<Record<ErrorCode, string>>> = {
  not_found: 'TASK_NOT_FOUND',
  task_not_cancelable: 'TASK_NOT_CANCELABLE',
  push_not_supported: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  unsupported_operation: 'UNSUPPORTED_OPERATION',
  content_type_not_supported: 'CONTENT_TYPE_NOT_SUPPORTED',
  extension_required: 'EXTENSION_SUPPORT_REQUIRED',
  version_not_supported: 'VERSION_NOT_SUPPORTED',
};

/** Names of google.rpc.Code by number. */
const RPC_STATUS: Readonly<Record<number, string>> = {
  3: 'INVALID_ARGUMENT',
  5: 'NOT_FOUND',
  6: 'ALREADY_EXISTS',
  7: 'PERMISSION_DENIED',
  8: 'RESOURCE_EXHAUSTED',
  9: 'FAILED_PRECONDITION',
  13: 'INTERNAL',
  14: 'UNAVAILABLE',
  16: 'UNAUTHENTICATED',
};

/** Statuses that say something about the call itself, so that JSON-RPC carries them too; its other errors come with 200. */
const TRANSPORT_STATUSES = new Set([401, 403, 413, 429, 503]);

export interface ErrorAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The answer for an error. `id` is the JSON-RPC request's, `null` when it was not read. */
export function errorAnswer(binding: Binding, error: PortcullisError, id: string | number | null): ErrorAnswer {
  const { http, grpc, rpc } = error.edge;
  const message = `${error.message} ${error.mend}`;
  const details = [errorInfo(error)];
  const body =
    binding === 'JSONRPC'
      ? { jsonrpc: '2.0', id, error: { code: rpc, message, data: details } }
      : { error: { code: http, status: RPC_STATUS[grpc] ?? 'UNKNOWN', message, details } };
  const status = binding === 'JSONRPC' && !TRANSPORT_STATUSES.has(http) ? 200 : http;
  return { status, headers: headersFor(http), body };
}

function headersFor(http: number): Record<string, string> {
  if (http === 401) return { 'WWW-Authenticate': 'Bearer realm="portcullis"' };
  if (http === 429 || http === 503) return { 'Retry-After': '2' };
  return {};
}

/** google.rpc.ErrorInfo: its metadata always names the catalogue's code, which clients of ours turn back into the error. */
function errorInfo(error: PortcullisError): unknown {
  const reason = A2A_REASONS[error.code];
  const details = Object.fromEntries(Object.entries(error.details).map(([name, value]) => [name, String(value)]));
  return {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: reason ?? error.code.toUpperCase(),
    domain: reason === undefined ? 'portcullis' : 'a2a-protocol.org',
    metadata: { ...details, [A2A_ERROR_CODE_FIELD]: error.code },
  };
}
