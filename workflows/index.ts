/** Every workflow type of the control worker. A test compares this list with what the gateway and the client start. */
export { verify } from './verify/workflow.ts';
export { openPair } from './pair/open-pair.ts';
export { closePair } from './pair/close-pair.ts';
export { setKillSwitch } from './pair/kill-switch.ts';
export { reconcile } from './reconcile/workflow.ts';
export { gate } from './gate/workflow.ts';
export { anchor } from './gate/anchor.ts';
export { workspace, destroyWorkspace } from './workspace/workflow.ts';
export { destroyStray } from './workspace/stray.ts';
export { slots } from './slots/workflow.ts';
export { ticket } from './ticket/workflow.ts';
export { closeIncident } from './ticket/close-incident.ts';
export { verification } from './verification/workflow.ts';
