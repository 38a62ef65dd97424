/** `docs/reference/workspaces.md`: the shipped registry, the phases of a life, and what a template has to take. */
import registry from '../../policies/workspaces/registry.json' with { type: 'json' };
import { LIFECYCLE_OUTCOMES, WORKSPACE_PHASES, WORKSPACE_STATES } from '../../schemas/workspace/lifecycle.ts';
import { TEMPLATE_PARAMETERS } from '../../schemas/workspace/parameters.ts';
import { workspaceRegistryDocument } from '../../schemas/workspace/registry.schema.ts';
import { QUARANTINE_LIMIT } from '../../schemas/workspace/slots.ts';
import { markdownTable, page } from './markdown.ts';

export function workspacesPage(): string {
  const { revision, agents } = workspaceRegistryDocument.parse(registry);
  const rows = Object.entries(agents).map(([role, agent]) => {
    const { min, max } = agent.overrides.ttlSeconds ?? { min: null, max: null };
    return [
      `\`${role}\``,
      `\`${agent.template}\``,
      `\`${agent.engine}\``,
      agent.executor ? 'yes' : 'no',
      agent.readOnly ? 'no' : 'its branch',
      agent.per,
      agent.maxWorkers,
      agent.ttlSeconds,
      agent.maxTtlSeconds,
      min === null ? 'no' : `${min} to ${max}`,
    ];
  });
  const head = ['Role', 'Template', 'Engine', 'Executor', 'May push', 'One for each', 'Slots'];
  return page(
    'Workspaces',
    `What a workspace is and how it ends: [workspaces](../concepts/workspaces.md). The shipped registry is revision ${revision} (\`policies/workspaces/registry.json\`); ${QUARANTINE_LIMIT} quarantined workspaces of a role stop new ones of it.`,
    [
      '## Roles\n\nTimes in seconds. The last column is what a ticket may set for its own workspaces.',
      markdownTable([...head, 'TTL', 'Longest TTL', 'A ticket may set'], rows),
      '## Parameters of a template\n\nEvery worker template takes these, or nothing is made from it.',
      markdownTable(
        ['Parameter', 'Of'],
        Object.entries(TEMPLATE_PARAMETERS).map(([what, name]) => [`\`${name}\``, what]),
      ),
      `## Words\n\nStates: ${list(WORKSPACE_STATES)}. Phases, in their order: ${list(WORKSPACE_PHASES)}. Outcomes of a phase: ${list(LIFECYCLE_OUTCOMES)}.`,
    ].join('\n\n'),
  );
}

function list(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}
