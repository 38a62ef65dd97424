/** Why a decision does not count now, in words: what moved, and what to do about it. */
import type { Applicability } from '../../schemas/gate/vocabulary.ts';

export interface MovedComponent {
  /** The component that moved. */
  readonly component: string;
  readonly sentence: string;
  readonly mend: string;
}

const ANEW = 'Evaluate the current subject; nothing is carried over.';

export const MOVED: Readonly<Record<Exclude<Applicability, 'applicable'>, MovedComponent>> = {
  evidence_tampered: {
    component: 'records',
    sentence:
      'The decision, its signature, or a record that it rests on is not what it was when it was signed, or is gone.',
    mend: 'Treat it as an incident: compare the store with the anchors of the audit chain before anything is relied on.',
  },
  revoked: {
    component: 'authority',
    sentence: 'A grant or a principal that it rests on was revoked.',
    mend: 'Have another verifier or person look, then evaluate again.',
  },
  contradicted: {
    component: 'evidence',
    sentence: 'Evidence against it came later, or a second evaluation of the same evidence disagreed.',
    mend: 'Evaluate again: the later evidence is judged with the rest. A disagreement is an incident.',
  },
  execution_superseded: {
    component: 'execution',
    sentence: 'The ticket is at another execution now.',
    mend: ANEW,
  },
  subject_superseded: {
    component: 'subject',
    sentence: 'A newer subject of this gate is registered, or none is.',
    mend: ANEW,
  },
  policy_superseded: {
    component: 'policy',
    sentence: 'The gate applies another policy or definition now.',
    mend: 'Make a subject that names the current policy, then evaluate it.',
  },
  expired: {
    component: 'time',
    sentence: 'Something time-sensitive that it rests on has ended.',
    mend: 'Run the time-sensitive check again, then evaluate.',
  },
};
