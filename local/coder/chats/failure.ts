/** Why a turn failed, as the chat shows it. */
import type { TurnFailureKind, TurnOutcome } from '../runtime.ts';
import type { Chat, Provider } from '../state/records.ts';

type Failed = Extract<TurnOutcome, { readonly outcome: 'failed' }>;
type ChatFailure = NonNullable<Chat['lastError']>;

const NAMES: Readonly<Record<string, string>> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  'openai-compat': 'OpenAI Compatible',
};

export function chatFailure(provider: Provider | undefined, failed: Failed): ChatFailure {
  const type = provider?.type ?? '';
  return {
    message: sentence(NAMES[type] ?? type, failed.kind),
    detail: failed.message,
    kind: failed.kind,
    provider: type,
    retryable: failed.retryable,
    statusCode: failed.statusCode,
  };
}

/** One key was refused: every later turn fails at once, although the provider may be well again, until it is updated. */
export const KEYS_REFUSED: Failed = {
  outcome: 'failed',
  kind: 'auth',
  message: 'all configured keys failed authentication. Contact your Administrator',
  retryable: false,
  statusCode: 502,
};

function sentence(provider: string, kind: TurnFailureKind): string {
  switch (kind) {
    case 'auth':
      return `Authentication with ${provider} failed. Check the API key and permissions.`;
    case 'overloaded':
      return `${provider} is overloaded.`;
    case 'rate_limit':
      return `${provider} limits the rate of requests.`;
    case 'timeout':
    case 'stream_silence_timeout':
      return `${provider} did not answer in time.`;
    case 'generic':
    case 'config':
    case 'usage_limit':
    case 'missing_key':
    case 'provider_disabled':
    case 'content_filter':
      return `${provider} returned an unexpected error.`;
  }
}
