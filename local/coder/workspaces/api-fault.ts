/** What a create is answered instead, when a parameter of it asks for that: the answers that make a client think twice. */
import type { LocalCoderContext } from '../context.ts';
import { faultsOf } from '../faults.ts';
import { cutConnection, Refusal, refuse } from '../http/refusal.ts';
import type { User } from '../state/records.ts';
import type { Value } from '../templates/parameters.ts';

/** Names that had their one refusal; per server, so a restart refuses once more. */
const refusedOnce = new WeakMap<LocalCoderContext, Set<string>>();

const internal = () => refuse(500, 'Internal server error', 'simulated');

/** `before` the workspace is made, and `after`. */
export function apiFault(coder: LocalCoderContext, owner: User, name: string, parameters: readonly Value[]) {
  const { api } = faultsOf(Object.fromEntries(parameters.map((value) => [value.name, value.value])));
  return {
    before(): void {
      switch (api) {
        case 'unavailable':
          throw refuse(503, 'Service unavailable.');
        case 'rate_limited':
          throw new Refusal(429, { message: "You've been rate limited." }, { 'Retry-After': '1' });
        case 'refused_once': {
          const names = refusedOnce.get(coder) ?? new Set();
          refusedOnce.set(coder, names);
          const key = `${owner.id}/${name}`;
          if (names.has(key)) return;
          names.add(key);
          throw internal();
        }
        case 'none':
        case 'lost':
        case 'made_but_500':
      }
    },
    after(): void {
      if (api === 'lost') throw cutConnection();
      if (api === 'made_but_500') throw internal();
    },
  };
}
