/** Every workflow type of the control worker. A test compares this list with what the gateway and the client start. */
export { verify } from './verify/workflow.ts';
export { openPair } from './pair/open-pair.ts';
export { closePair } from './pair/close-pair.ts';
export { setKillSwitch } from './pair/kill-switch.ts';
export { reconcile } from './reconcile/workflow.ts';
