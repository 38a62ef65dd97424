/**
 * Faults, asked for by template parameter as one would in the field: the local templates have these beside their own.
 * Each default is harmless. `PUT /local/v1/templates/{name}/defaults` changes the defaults of a template, for creates
 * whose parameters are another's.
 */
import type { Parameter } from './state/records.ts';

export const FAULTS = {
  /** How long the resource takes to be made or destroyed. */
  buildSeconds: 'build_seconds',
  /** `start`, `delete`: that build fails. */
  failOn: 'fail_on',
  /** Exit code that the start script ends with; empty leaves it to the script. */
  startExit: 'start_exit',
  /** `never`: the agent does not connect. */
  agentConnects: 'agent_connects',
  /** What a create with it is answered instead; see {@link ApiFault}. */
  apiFault: 'api_fault',
  /** `yes`: a cancelled start leaves its compute behind, as seen with the real server. */
  leaksOnCancel: 'leaks_on_cancel',
} as const;

/**
 * `unavailable` 503, `rate_limited` 429, `refused_once` 500 the first time; `lost` cuts the connection after the
 * workspace was made, `made_but_500` answers 500 after it.
 */
export const API_FAULTS = ['none', 'unavailable', 'rate_limited', 'refused_once', 'lost', 'made_but_500'] as const;
export type ApiFault = (typeof API_FAULTS)[number];

export interface Faults {
  readonly buildMs: number;
  readonly failOn: 'none' | 'start' | 'delete';
  readonly startExit: number | null;
  readonly connects: 'soon' | 'never';
  readonly api: ApiFault;
  readonly leaksOnCancel: boolean;
}

export function faultsOf(values: Readonly<Record<string, string>>): Faults {
  const failOn = values[FAULTS.failOn];
  const exit = values[FAULTS.startExit] ?? '';
  return {
    buildMs: Number(values[FAULTS.buildSeconds] ?? '0') * 1000,
    failOn: failOn === 'start' || failOn === 'delete' ? failOn : 'none',
    startExit: exit === '' ? null : Number(exit),
    connects: values[FAULTS.agentConnects] === 'never' ? 'never' : 'soon',
    api: API_FAULTS.find((fault) => fault === values[FAULTS.apiFault]) ?? 'none',
    leaksOnCancel: values[FAULTS.leaksOnCancel] === 'yes',
  };
}

export const FAULT_PARAMETERS: readonly Parameter[] = [
  numberParameter(FAULTS.buildSeconds, '0', 0, 600),
  choice(FAULTS.failOn, ['none', 'start', 'delete']),
  { ...numberParameter(FAULTS.startExit, '', 0, 255), type: 'string', min: null, max: null },
  choice(FAULTS.agentConnects, ['soon', 'never']),
  choice(FAULTS.apiFault, [...API_FAULTS]),
  choice(FAULTS.leaksOnCancel, ['no', 'yes']),
];

function numberParameter(name: string, defaultValue: string, min: number, max: number): Parameter {
  const shape = { formType: 'input', mutable: true, required: false, options: [] } as const;
  return { ...shape, options: [], name, type: 'number', defaultValue, min, max };
}

function choice(name: string, options: string[]): Parameter {
  const shape = { type: 'string', formType: 'radio', mutable: true, required: false, min: null, max: null } as const;
  return { ...shape, name, options, defaultValue: options[0] ?? '' };
}
