/** What may be told to a running verify. Both only hint or shorten: neither can make a run pass. */
import { defineSignal } from '@temporalio/workflow';
import { VERIFY_SIGNALS } from '../../schemas/verify/activities.ts';

/** The executor registered again without this run: the process that ran it is gone. */
export const executorLostSignal = defineSignal(VERIFY_SIGNALS.executorLost);
/** Somebody left the line: look at the place again. */
export const placeChangedSignal = defineSignal(VERIFY_SIGNALS.placeChanged);
