/** What the bindings ask of a handler: the SDK's interface, of which push and the extended card are refused by whoever it is. */
import type { Task } from '@a2a-js/sdk';
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server';

type Refused =
  | 'getAuthenticatedExtendedAgentCard'
  | 'createTaskPushNotificationConfig'
  | 'getTaskPushNotificationConfig'
  | 'listTaskPushNotificationConfigs'
  | 'deleteTaskPushNotificationConfig';

type Refusal = (params: unknown, context: ServerCallContext) => Promise<never>;

export interface TaskAddress {
  readonly id: string;
  readonly tenant: string;
}

export interface BoundHandler
  extends Omit<A2ARequestHandler, Refused | 'cancelTask' | 'resubscribe'>, Readonly<Record<Refused, Refusal>> {
  cancelTask(params: TaskAddress, context: ServerCallContext): Promise<Task>;
  resubscribe(params: TaskAddress, context: ServerCallContext): ReturnType<A2ARequestHandler['resubscribe']>;
}
