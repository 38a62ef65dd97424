/** The words in which reviewers, review files and the harness say a verdict, and the form of a failure class. */
import { VERDICT_TOKENS, type VerdictToken } from '../../schemas/verdict.ts';

const APPROVING = ['approved', 'approve', 'agreed'];
const REJECTING = ['rejected', 'reject', 'changes_requested', 'issues'];

/**
 * The verdict a word stands for, in any letter case: `APPROVED`, `approve` (harness) and `AGREED` (contract) approve;
 * `REJECTED`, `reject`, `CHANGES_REQUESTED` (review files) and `ISSUES` (contract) reject. `null` for every other word.
 */
export function verdictOfWord(word: string): 'APPROVED' | 'REJECTED' | null {
  const lower = word.toLowerCase();
  if (APPROVING.includes(lower)) return 'APPROVED';
  return REJECTING.includes(lower) ? 'REJECTED' : null;
}

/** Tokens are read to the letter: unlike the words they have one spelling. */
export function isVerdictToken(text: string): text is VerdictToken {
  return (VERDICT_TOKENS as readonly string[]).includes(text);
}

/** Longest failure class, in characters. */
export const FAILURE_CLASS_LENGTH = 64;

/**
 * A failure class in lower-kebab, cut at 64 characters: `TYPE_FAIL`, `TypeFail` and `type fail` are all `type-fail`.
 * `null` when no ASCII letter or digit is left. Normalising twice changes nothing.
 */
export function normaliseFailureClass(text: string): string | null {
  const kebab = text
    .normalize('NFKD')
    .replace(/\p{Mark}+/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, FAILURE_CLASS_LENGTH + 1)
    .replace(/^-/, '')
    .slice(0, FAILURE_CLASS_LENGTH)
    .replace(/-$/, '');
  return kebab === '' ? null : kebab;
}
