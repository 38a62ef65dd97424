/** The card of the test-only agent: nobody has to say who they are, and no extension is required unless the suite's own is wanted. */
import type { AgentCard } from '@a2a-js/sdk';
import { agentCard } from '../../../gateway/a2a/card.ts';

export const INPUT_MODES: readonly string[] = ['', 'text', 'text/plain', 'application/json'];

/** What the suite asks for when a card requires it. With it most of the suite fails: it is asked for by two tests alone. */
export const SUITE_EXTENSION = 'urn:a2a:tck:required-extension';

/** @param base where the suite reaches it, without a trailing slash */
export function tckCard(base: string, requiresExtension = false): AgentCard {
  const card = agentCard(base);
  const [skill] = card.skills;
  const extension = { uri: SUITE_EXTENSION, description: 'Required.', required: true, params: undefined };
  return {
    ...card,
    name: 'Portcullis bindings under test',
    description: 'A scripted agent behind the bindings of the relay. For the compatibility suite only.',
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: requiresExtension ? [extension] : [],
    },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: skill === undefined ? [] : [{ ...skill, id: 'tck', name: 'Scripted', description: 'Scripted answers.' }],
  };
}
