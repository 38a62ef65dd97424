/**
 * What an orchestrator imports: a client of the gateway and the shapes that go over it.
 *
 * @example import { GatewayClient } from 'portcullis'
 */
export { GatewayClient, type SendOptions, type VerifyAsk } from './gateway-client.ts';
export type { VerifyTask, VerifyTaskState } from './a2a.ts';
export type { Watched } from './watch.ts';
export { PortcullisError, type ErrorCode } from '../schemas/errors.ts';
export type { VerifyResult, VerifyStatus } from '../schemas/verify/result.ts';
