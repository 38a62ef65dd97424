/**
 * What an orchestrator imports: a client of the gateway, one of Temporal for tickets, and the shapes that go over both.
 *
 * @example import { GatewayClient } from 'portcullis'
 */
export { GatewayClient, type SendOptions, type VerifyAsk } from './gateway-client.ts';
export {
  Orchestrator,
  type OrchestratorOptions,
  type TicketMoved,
  type TicketReads,
  type WatchTicketOptions,
} from './orchestrator.ts';
export type { VerifyTask, VerifyTaskState } from './a2a.ts';
export type { Watched } from './watch.ts';
export { PortcullisError, type ErrorCode } from '../schemas/errors.ts';
export type { VerifyResult, VerifyStatus } from '../schemas/verify/result.ts';
export type { TicketDefinition } from '../schemas/ticket/definition.ts';
export type { TicketState } from '../schemas/ticket/state.ts';
export type { TicketSource } from '../schemas/ticket/workflow.ts';
