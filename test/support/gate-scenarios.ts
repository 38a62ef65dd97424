/** The scenarios behind `examples/gate/`, which `scripts/gate-examples.ts` writes out. */
import { INTEGRITY_SCENARIOS } from './gate-scenarios-integrity.ts';
import { JUDGED_SCENARIOS } from './gate-scenarios-judged.ts';
import { OPEN_SCENARIOS } from './gate-scenarios-open.ts';
import { PASS_SCENARIOS } from './gate-scenarios-pass.ts';
import type { Scenario } from './gate-scenario.ts';

export const SCENARIOS: readonly Scenario[] = [
  ...PASS_SCENARIOS,
  ...INTEGRITY_SCENARIOS,
  ...JUDGED_SCENARIOS,
  ...OPEN_SCENARIOS,
];
