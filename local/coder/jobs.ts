/** The queue and the provisioners, for who wants to know why a build waits. */
import type { LocalCoderContext } from './context.ts';
import { isActive } from './builds/status.ts';
import { jobView } from './builds/view.ts';
import { notFound } from './http/refusal.ts';
import { pathText, queryNumber, queryText } from './http/request.ts';
import { CODER_VERSION, ok, type Route } from './http/route.ts';
import type { Asker } from './http/asker.ts';
import { checkOrganization } from './organizations.ts';
import type { Build } from './state/records.ts';

const PAGE = 50;

export function jobRoutes(coder: LocalCoderContext): readonly Route[] {
  const { state } = coder;
  /** A plain member sees neither; the real server wants more than the lifecycle scopes for it. */
  const check = (asker: Asker, organization: string) => {
    checkOrganization(state, organization);
    if (!asker.covers('organization:read')) throw notFound();
  };
  return [
    {
      method: 'GET',
      path: '/api/v2/organizations/:organization/provisionerjobs',
      work: (request, asker) => {
        check(asker, pathText(request, 'organization'));
        const statuses = queryText(request, 'status');
        const jobs = state.builds
          .all()
          .filter(({ job }) => (statuses === '' ? true : statuses.split(',').includes(job.status)))
          .toReversed()
          .slice(0, queryNumber(request, 'limit') || PAGE);
        return ok(jobs.map((build) => queuedJobView(coder, build)));
      },
    },
    {
      method: 'GET',
      path: '/api/v2/organizations/:organization/provisionerdaemons',
      work: (request, asker) => {
        check(asker, pathText(request, 'organization'));
        return ok(
          coder.queue.daemons().map(({ id, name, jobId }) => ({
            id,
            organization_id: state.organizationId,
            created_at: state.createdAt,
            last_seen_at: coder.clock.iso(),
            name,
            version: CODER_VERSION,
            api_version: '1.18',
            provisioners: ['terraform'],
            tags: { owner: '', scope: 'organization' },
            key_id: '00000000-0000-0000-0000-000000000001',
            key_name: 'built-in',
            status: jobId === null ? 'idle' : 'busy',
            current_job: jobId === null ? null : { id: jobId, status: 'running' },
            previous_job: null,
          })),
        );
      },
    },
  ];
}

function queuedJobView(coder: LocalCoderContext, build: Build) {
  const { state } = coder;
  const workspace = state.workspaces.get(build.workspaceId);
  const template = state.templates.get(workspace?.templateId ?? '');
  return {
    ...jobView(coder, build.job, {
      type: 'workspace_build',
      input: { workspace_build_id: build.id },
      initiatorId: build.initiatorId,
    }),
    available_workers: isActive(build.job) ? coder.queue.daemons().map(({ id }) => id) : [],
    metadata: {
      template_version_name: state.versions.get(build.versionId)?.name ?? '',
      template_id: template?.id ?? '',
      template_name: template?.name ?? '',
      template_display_name: template?.displayName ?? '',
      template_icon: '',
      workspace_id: build.workspaceId,
      workspace_name: workspace?.name ?? '',
      workspace_build_transition: build.transition,
    },
  };
}
