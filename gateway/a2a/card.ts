/** The agent card: public, so it names the bindings and the extension and says nothing of pairs, policies or credentials. */
import type { AgentCard } from '@a2a-js/sdk';
import { A2A_PATHS, VERIFY_EXTENSION, VERIFY_MEDIA_TYPES } from '../../schemas/verify/a2a.ts';
import { REQUEST_LIMITS } from '../../schemas/verify/request.schema.ts';
import { WORKING_DIRECTORIES } from '../../schemas/verify/request.ts';
import type { Binding } from './call.ts';

export const A2A_VERSION = '1.0';

/** @param base where callers reach this gateway, without a trailing slash */
export function agentCard(base: string): AgentCard {
  return {
    name: 'Portcullis verification relay',
    description:
      'Runs one permitted command on the pinned commit of a pair, in a sandbox, and answers with what happened. The requester never enters the workspace.',
    version: '1',
    provider: undefined,
    supportedInterfaces: [interfaceOf(base, A2A_PATHS.rest, 'HTTP+JSON'), interfaceOf(base, A2A_PATHS.rpc, 'JSONRPC')],
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: [
        {
          uri: VERIFY_EXTENSION,
          description:
            'Verify requests and results, and numbered events: metadata holds seq, streams carry it as SSE id, Last-Event-ID resumes, afterSeq makes GetTask answer later events.',
          required: true,
          params: {
            kinds: ['command'],
            cwd: [...WORKING_DIRECTORIES],
            limits: { maxTimeoutSecs: 3600, maxArgv: REQUEST_LIMITS.arguments, maxStreamBytes: 1024 * 1024 },
          },
        },
      ],
    },
    securitySchemes: {
      bearer: {
        scheme: {
          $case: 'httpAuthSecurityScheme',
          value: { description: 'Exchange a claim code for it.', scheme: 'Bearer', bearerFormat: 'pc1' },
        },
      },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    defaultInputModes: [VERIFY_MEDIA_TYPES.request, 'application/json'],
    defaultOutputModes: [VERIFY_MEDIA_TYPES.result],
    skills: [
      {
        id: 'verify',
        name: 'Verify',
        description: 'One allowlisted command on the current commit of your pair.',
        tags: ['verification', 'tests'],
        examples: [],
        inputModes: [],
        outputModes: [],
        securityRequirements: [],
      },
    ],
    signatures: [],
  };
}

function interfaceOf(base: string, path: string, protocolBinding: Binding) {
  return { url: `${base}${path}`, protocolBinding, protocolVersion: A2A_VERSION, tenant: '' };
}

const HOST = /^[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?$|^\[[0-9a-fA-F:]{2,45}\](?::[0-9]{1,5})?$/;

/** The base that a caller used, when no public one is set. A host that is not one is never echoed. */
export function baseOf(host: string | undefined): string {
  return `http://${host !== undefined && HOST.test(host) ? host : 'localhost'}`;
}
