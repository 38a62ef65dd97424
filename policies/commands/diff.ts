/** What changed between two command policies, for `policy diff` and for whoever reviews the change. */
import { canonicalText } from '../../schemas/canonical.ts';
import type { CommandPolicy, CommandTemplate } from './types.ts';

export interface PolicyChange {
  readonly kind: 'added' | 'removed' | 'changed';
  /** Where: a template's id with the field, or a field of the document. */
  readonly path: string;
  /** Canonical text of the value; `null` where there is none. */
  readonly before: string | null;
  readonly after: string | null;
}

/** Changes in the order of their paths; empty when both say the same. */
export function diffCommandPolicies(before: CommandPolicy, after: CommandPolicy): readonly PolicyChange[] {
  const { templates: templatesBefore, ...fieldsBefore } = before;
  const { templates: templatesAfter, ...fieldsAfter } = after;
  return [
    ...diffFields('', fieldsBefore, fieldsAfter),
    ...diffFields('templates', byId(templatesBefore), byId(templatesAfter)).flatMap((change) =>
      change.kind === 'changed' ? diffTemplate(change.path, templatesBefore, templatesAfter) : [change],
    ),
  ];
}

function diffTemplate(
  path: string,
  before: readonly CommandTemplate[],
  after: readonly CommandTemplate[],
): readonly PolicyChange[] {
  const id = path.slice('templates.'.length);
  return diffFields(path, { ...before.find((one) => one.id === id) }, { ...after.find((one) => one.id === id) });
}

function byId(templates: readonly CommandTemplate[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(templates.map((template) => [template.id, template]));
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
