/** Whether one argv is an instance of one template: same length, equal literals, valid slots. There is no prefix rule. */
import { valueProblem } from './limits.ts';
import type { CommandTemplate, TemplateToken } from './types.ts';

export type TemplateMatch =
  | { readonly kind: 'match'; readonly slots: Readonly<Record<string, string>> }
  /** Everything but a slot's value fits. */
  | { readonly kind: 'slot'; readonly slot: string; readonly reason: string }
  | { readonly kind: 'other' };

export function matchTemplate(template: CommandTemplate, argv: readonly string[]): TemplateMatch {
  if (template.argv.length !== argv.length) return { kind: 'other' };
  const slots: Record<string, string> = {};
  let problem: TemplateMatch | null = null;
  for (const [index, token] of template.argv.entries()) {
    const given = argv[index];
    if (given === undefined) return { kind: 'other' };
    if (typeof token === 'string') {
      if (token !== given) return { kind: 'other' };
      continue;
    }
    const reason = slotProblem(template, token.slot, given, slots[token.slot]);
    if (reason !== null) problem ??= { kind: 'slot', slot: token.slot, reason };
    slots[token.slot] = given;
  }
  return problem ?? { kind: 'match', slots };
}

/** The argv that runs. A slot that the match did not fill cannot occur in a document that lint passes. */
export function fillTemplate(
  tokens: readonly TemplateToken[],
  slots: Readonly<Record<string, string>>,
): readonly string[] {
  return tokens.map((token) => (typeof token === 'string' ? token : (slots[token.slot] ?? '')));
}

function slotProblem(
  template: CommandTemplate,
  slot: string,
  value: string,
  before: string | undefined,
): string | null {
  const rule = template.slots[slot];
  if (rule === undefined) return 'the template does not define it';
  if (before !== undefined && before !== value) return 'it is given twice with different values';
  if (value.length > rule.maxLength) return `it is longer than ${rule.maxLength} characters`;
  const general = valueProblem(value);
  if (general !== null) return general;
  return new RegExp(rule.pattern, 'u').test(value) ? null : `it does not match ${rule.pattern}`;
}
