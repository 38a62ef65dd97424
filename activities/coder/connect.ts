/** The port over a Coder server, real or local: one client talks to either. */
import { RUN_PARAMETER } from '../../schemas/coder/workspace.ts';
import { expectAnswer } from './answer.ts';
import { serverAnswer } from './answers.schema.ts';
import { cancelBuild, requestBuild } from './builds.ts';
import { coderClient } from './client.ts';
import { createOrAdopt } from './create.ts';
import { isGone } from './gone.ts';
import { extend, setTtl } from './lifetime.ts';
import { listByRun, listOwned } from './lists.ts';
import { readAgentLogs, readBuildLogs } from './logs.ts';
import type { CoderPort } from './port.ts';
import { readBuild, readById, readByName, readParameters, signalOf } from './reads.ts';
import { type CoderOptions, coderSettings } from './settings.ts';
import { readTemplate, readTemplateParameters } from './templates.ts';
import { watch } from './watch.ts';

/** Opens nothing: the first call connects. `runParameter` names the template parameter that carries the owner's id. */
export function connectCoder(options: CoderOptions, runParameter: string = RUN_PARAMETER): CoderPort {
  const settings = coderSettings(options);
  const client = coderClient(settings);
  return {
    server: (call = {}) =>
      expectAnswer('read build info', serverAnswer, client.GET('/api/v2/buildinfo', signalOf(call)), call),
    template: (organization, name, call) => readTemplate(client, organization, name, call),
    templateParameters: (version, call) => readTemplateParameters(client, version, call),
    createOrAdopt: (request, call) => createOrAdopt(client, runParameter, request, call),
    readById: (workspace, call) => readById(client, workspace, call),
    readByName: (owner, name, call) => readByName(client, owner, name, false, call),
    build: (build, call) => readBuild(client, build, call),
    buildParameters: (build, call) => readParameters(client, build, call),
    requestBuild: (workspace, request, call) => requestBuild(client, workspace, request, call),
    cancelBuild: (build, expect, call) => cancelBuild(client, build, expect, call),
    isGone: (workspace, deleteBuild, call) => isGone(client, workspace, deleteBuild, call),
    setTtl: (workspace, ttlMs, call) => setTtl(client, workspace, ttlMs, call),
    extend: (workspace, deadline, call) => extend(client, workspace, deadline, call),
    listOwned: (owner, call) => listOwned(client, runParameter, owner, call),
    listByRun: (owner, run, call) => listByRun(client, runParameter, owner, run, call),
    buildLogs: (build, after, call) => readBuildLogs(client, build, after, call),
    agentLogs: (agent, after, call) => readAgentLogs(client, agent, after, call),
    watch: (workspace, call) => watch(settings, workspace, call),
  };
}
