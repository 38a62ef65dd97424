/** The report of a review, checked: strict, bounded, and without a character that a terminal would act on. */
import { z } from 'zod';
import { code, id, list, set } from '../gate/fields.schema.ts';
import { CAUSALITIES, FINDING_TYPES, SEVERITIES, STANDINGS } from '../gate/vocabulary.ts';
import { REPORT_LIMITS, type ReportedDisposition, type ReportedFinding, type ReviewReport } from './report.ts';

/** Controls, and what turns the direction of text: both show a person something else than is there. */
const UNSHOWABLE = /[\p{Cc}\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u2028\u2029\ufeff]/u;

const showable = (text: string): boolean => text.isWellFormed() && !UNSHOWABLE.test(text.replaceAll('\n', ' '));

const text = z
  .string()
  .min(1)
  .max(REPORT_LIMITS.text)
  .refine(showable, 'holds a control character or half of a surrogate pair');

const path = z
  .string()
  .min(1)
  .max(512)
  .refine((name) => showable(name) && !name.includes('\n'), 'is not a path')
  .refine((name) => !name.startsWith('/') && !name.endsWith('/') && !name.split('/').includes('..'), 'is not a path');

const line = z.int().min(1).max(10_000_000);

const lines = z
  .strictObject({ path, from_line: line, to_line: line })
  .refine((range) => range.from_line <= range.to_line, 'ends before it begins');

const finding: z.ZodType<ReportedFinding> = z
  .strictObject({
    type: z.enum(FINDING_TYPES),
    severity: z.enum(SEVERITIES),
    standing: z.enum(STANDINGS),
    causality: z.enum(CAUSALITIES),
    location: lines.optional(),
    changed_range: lines.optional(),
    criterion: id.optional(),
    security_requirement: z.boolean().optional(),
    failure_scenario: text,
    required_fix: text,
    confidence: z.int().min(0).max(100).optional(),
    prior_finding: id.optional(),
  })
  .refine((of) => of.security_requirement !== true || of.type === 'security', {
    path: ['security_requirement'],
    error: 'goes with the type security only',
  });

const disposition: z.ZodType<ReportedDisposition> = z
  .strictObject({
    finding: id,
    disposition: z.enum(['resolved', 'still_present', 'superseded_by_subject_change', 'human_required']),
    evidence: set(id, (name) => name, REPORT_LIMITS.evidence).optional(),
    reason: code,
  })
  .refine((of) => of.disposition !== 'resolved' || (of.evidence ?? []).length > 0, {
    path: ['evidence'],
    error: 'is empty on a resolved finding',
  });

/** Of the deciding block: its other keys are the verdict's, or nobody's. */
export const reviewReportSchema: z.ZodType<ReviewReport> = z.object({
  findings: list(finding, REPORT_LIMITS.findings).default([]),
  dispositions: set(disposition, (of) => of.finding, REPORT_LIMITS.dispositions).default([]),
});
