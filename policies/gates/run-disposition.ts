/** What one run came to, over all its rows. Computed here and nowhere else; the verifier's own summary is not read. */
import type { VerificationRun } from '../../schemas/gate/run.ts';
import type { SubjectManifest } from '../../schemas/gate/subject.ts';
import type { RunDisposition } from '../../schemas/gate/vocabulary.ts';

/** `failed` over `inconclusive` over `passed`; an absent or untested required row, and an unavailable run, are inconclusive. */
export function runDispositionOf(run: VerificationRun, subject: SubjectManifest): RunDisposition {
  switch (run.outcome.state) {
    case 'refused':
      return 'blocked';
    case 'unavailable':
      return 'inconclusive';
    case 'finished': {
      const rows = new Map(run.outcome.rows.map((row) => [row.criterionId, row.status]));
      const required = subject.criteria.items.filter((item) => item.required);
      if (required.some((item) => rows.get(item.criterionId) === 'failed')) return 'failed';
      const open = required.filter((item) => rows.get(item.criterionId) !== 'passed');
      if (open.length === 0) return required.length > 0 ? 'passed' : 'inconclusive';
      const onlyPeople = open.every((item) => item.methods.every((method) => method === 'human'));
      return onlyPeople ? 'needs_human_review' : 'inconclusive';
    }
  }
}
