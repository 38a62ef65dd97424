/**
 * The loop of reviews over one issue: bounded retries, one re-ask, and the lesson of a second rejection. Pure, so that the
 * ticket workflow can hold it as state.
 *
 * @example
 * const first = afterReview(newReviewLoop('T-048'), reading, 'review/1');
 * first.action // { route: 'retry_producer', retry: 1, rejection: … }
 */
import type { Lesson, Rejection, VerdictReading } from '../../schemas/verdict.ts';
import { reaskText } from './route.ts';

/** Times a producer is sent back in one streak before a human sees the lineage. */
export const RETRY_LIMIT = 3;
/** Rejections in a row that mean the first diagnosis was wrong. */
export const LESSON_AFTER = 2;
/** Rejections kept; older ones of the streak fall off so that a workflow's state stays bounded. */
export const LINEAGE_LIMIT = 32;

export interface ReviewLoop {
  /** The ticket. */
  readonly issue: string;
  /** Rejections since the last approval, oldest first. */
  readonly rejections: readonly Rejection[];
  /** Times the producer was sent back since the last approval or human decision. */
  readonly retries: number;
  /** Whether the last answer was unreadable and the reviewer has been asked again. */
  readonly reasked: boolean;
  /** Whether this streak has had its lesson. */
  readonly lessonFired: boolean;
}

export type ReviewAction =
  | { readonly route: 'proceed' }
  | { readonly route: 'retry_producer'; readonly retry: number; readonly rejection: Rejection }
  | {
      readonly route: 'human';
      readonly why: 'reviewer_asked' | 'retries_exhausted' | 'unparseable_again';
      readonly lineage: readonly Rejection[];
    }
  | { readonly route: 'stop'; readonly rejection: Rejection }
  | { readonly route: 'reask'; readonly text: string };

export interface ReviewOutcome {
  readonly loop: ReviewLoop;
  readonly action: ReviewAction;
  /** To be appended by the orchestrator; at most one in a streak. */
  readonly lesson: Lesson | null;
}

export function newReviewLoop(issue: string): ReviewLoop {
  return { issue, rejections: [], retries: 0, reasked: false, lessonFired: false };
}

/**
 * What follows from one more review. An unreadable answer is no rejection and no approval: it neither lengthens a streak nor
 * ends one.
 * @param messageRef where the reviewer's message is kept
 */
export function afterReview(loop: ReviewLoop, reading: VerdictReading, messageRef: string): ReviewOutcome {
  switch (reading.verdict) {
    case 'APPROVED':
      return { loop: newReviewLoop(loop.issue), action: { route: 'proceed' }, lesson: null };
    case 'UNPARSEABLE':
      return {
        loop: { ...loop, reasked: true },
        action: loop.reasked
          ? { route: 'human', why: 'unparseable_again', lineage: loop.rejections }
          : { route: 'reask', text: reaskText(reading) },
        lesson: null,
      };
    case 'REJECTED': {
      const { token, failureClass } = reading;
      return afterRejection({ ...loop, reasked: false }, { messageRef, token, failureClass });
    }
  }
}

/** The loop once a human has decided to go on: retries and the re-ask start afresh, the lineage and the streak stay. */
export function afterHumanDecision(loop: ReviewLoop): ReviewLoop {
  return { ...loop, retries: 0, reasked: false };
}

function afterRejection(before: ReviewLoop, rejection: Rejection): ReviewOutcome {
  const rejections = [...before.rejections, rejection].slice(-LINEAGE_LIMIT);
  const fires = !before.lessonFired && rejections.length >= LESSON_AFTER;
  const loop = { ...before, rejections, lessonFired: before.lessonFired || fires };
  const lesson = fires ? lessonOf(loop) : null;
  switch (rejection.token) {
    case 'RETRY_FORJA': {
      if (loop.retries >= RETRY_LIMIT) {
        return { loop, action: { route: 'human', why: 'retries_exhausted', lineage: rejections }, lesson };
      }
      const retry = loop.retries + 1;
      return { loop: { ...loop, retries: retry }, action: { route: 'retry_producer', retry, rejection }, lesson };
    }
    case 'NEEDS_HUMAN':
      return { loop, action: { route: 'human', why: 'reviewer_asked', lineage: rejections }, lesson };
    case 'BLOCKED_UPSTREAM':
      return { loop, action: { route: 'stop', rejection }, lesson };
  }
}

function lessonOf({ issue, rejections }: ReviewLoop): Lesson {
  const classes = rejections.map((rejection) => rejection.failureClass).filter((name) => name !== null);
  return { schema: 'portcullis/lesson/v1', issue, rejections, failureClasses: [...new Set(classes)] };
}
