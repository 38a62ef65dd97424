/** What changed between two command policies, for `policy diff` and for whoever reviews the change. */
import { canonicalText } from '../../schemas/canonical.ts';
import type { CommandPolicy } from './types.ts';

export interface PolicyChange {
  readonly kind: 'added' | 'removed' | 'changed';
  /** Where: the id of a template or a preparation with its field, or a field of the document. */
  readonly path: string;
  /** Canonical text of the value; `null` where there is none. */
  readonly before: string | null;
  readonly after: string | null;
}

/** Changes in the order of their paths; empty when both say the same. */
export function diffCommandPolicies(before: CommandPolicy, after: CommandPolicy): readonly PolicyChange[] {
  const { templates: templatesBefore, preparations: preparationsBefore, ...fieldsBefore } = before;
  const { templates: templatesAfter, preparations: preparationsAfter, ...fieldsAfter } = after;
  return [
    ...diffFields('', fieldsBefore, fieldsAfter),
    ...diffById('preparations', preparationsBefore, preparationsAfter),
    ...diffById('templates', templatesBefore, templatesAfter),
  ];
}

interface Named {
  readonly id: string;
}

/** Of what both have, the fields that changed; of what one has, all of it. */
function diffById(prefix: string, before: readonly Named[], after: readonly Named[]): readonly PolicyChange[] {
  return diffFields(prefix, byId(before), byId(after)).flatMap((change) => {
    if (change.kind !== 'changed') return [change];
    const id = change.path.slice(`${prefix}.`.length);
    const find = (all: readonly Named[]) => ({ ...all.find((one) => one.id === id) });
    return diffFields(change.path, find(before), find(after));
  });
}

function byId(all: readonly Named[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(all.map((one) => [one.id, one]));
}

function diffFields(
  prefix: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly PolicyChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name): PolicyChange[] => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const old = name in before ? canonicalText(before[name]) : null;
    const next = name in after ? canonicalText(after[name]) : null;
    if (old === next) return [];
    return [{ kind: old === null ? 'added' : next === null ? 'removed' : 'changed', path, before: old, after: next }];
  });
}
