/** Template versions. An archive here is a JSON document of parameters, since no Terraform runs. */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { LocalCoderContext } from '../context.ts';
import { FAULT_PARAMETERS } from '../faults.ts';
import { jobView, matched } from '../builds/view.ts';
import { type Parameter, parameterRecord, type TemplateVersion, type User } from '../state/records.ts';

/** How long an import takes. */
const IMPORT_MS = 2_500;

const archive = z.object({ parameters: z.array(parameterRecord) });

/** Parameters of an uploaded document; one that is none has those of faults only. */
export function parametersOfArchive(bytes: Uint8Array): Parameter[] {
  try {
    const read = archive.safeParse(JSON.parse(Buffer.from(bytes).toString('utf8')));
    if (read.success) return read.data.parameters;
  } catch {
    // A tar archive, as the real server wants it.
  }
  return [...FAULT_PARAMETERS];
}

export interface NewVersion {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly fileId: string;
  readonly createdBy: User;
}

/** A version whose import succeeds after its time; `imported` is one whose import is over. */
export function addVersion(
  coder: LocalCoderContext,
  { name, parameters, fileId, createdBy }: NewVersion,
  imported = false,
): TemplateVersion {
  const { state, clock } = coder;
  const at = clock.iso();
  const version = state.versions.put({
    id: randomUUID(),
    templateId: null,
    name,
    createdAt: at,
    updatedAt: at,
    createdBy: createdBy.id,
    parameters: [...parameters],
    job: {
      id: randomUUID(),
      createdAt: at,
      startedAt: null,
      completedAt: null,
      canceledAt: null,
      status: 'pending',
      error: null,
      workerId: null,
      fileId,
    },
  });
  if (imported) return finishImport(coder, version.id);
  void runImport(coder, version.id);
  return version;
}

async function runImport(coder: LocalCoderContext, id: string): Promise<void> {
  const { state, clock, ending } = coder;
  await nextTurn();
  const version = state.versions.get(id);
  if (version === undefined || ending.aborted) return;
  state.versions.put({ ...version, job: { ...version.job, status: 'running', startedAt: clock.iso() } });
  const waited = await clock.sleep(IMPORT_MS, ending).then(
    () => true,
    () => false,
  );
  if (waited) finishImport(coder, id);
}

function finishImport({ state, clock }: LocalCoderContext, id: string): TemplateVersion {
  const version = state.versions.get(id);
  if (version === undefined) throw new Error(`template version ${id} is not in the state`);
  const at = clock.iso();
  const job = { ...version.job, status: 'succeeded', startedAt: version.job.startedAt ?? at, completedAt: at } as const;
  return state.versions.put({ ...version, updatedAt: at, job: { ...job, workerId: randomUUID() } });
}

export function versionView(coder: LocalCoderContext, version: TemplateVersion, asked = false) {
  const user = coder.state.users.get(version.createdBy);
  return {
    id: version.id,
    template_id: version.templateId ?? '00000000-0000-0000-0000-000000000000',
    organization_id: coder.state.organizationId,
    created_at: version.createdAt,
    updated_at: version.updatedAt,
    name: version.name,
    message: '',
    job: jobView(coder, version.job, {
      type: 'template_version_import',
      input: { template_version_id: version.id },
      initiatorId: version.createdBy,
    }),
    readme: '',
    created_by: { id: version.createdBy, username: user?.username ?? '', name: user?.name ?? '' },
    archived: false,
    ...(asked ? { matched_provisioners: matched(coder) } : {}),
    has_external_agent: false,
  };
}
