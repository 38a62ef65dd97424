/** Templates and what they ask for. */
import type { TemplateParameter, TemplateState } from '../../schemas/coder/template.ts';
import { expectAnswer } from './answer.ts';
import { templateAnswer, templateParametersAnswer } from './answers.schema.ts';
import type { CoderClient } from './client.ts';
import type { CallOptions } from './port.ts';
import { signalOf } from './reads.ts';

export function readTemplate(
  client: CoderClient,
  organization: string,
  template: string,
  call: CallOptions = {},
): Promise<TemplateState> {
  const request = client.GET('/api/v2/organizations/{organization}/templates/{template}', {
    params: { path: { organization, template } },
    ...signalOf(call),
  });
  return expectAnswer('read template', templateAnswer, request, call);
}

export function readTemplateParameters(
  client: CoderClient,
  version: string,
  call: CallOptions = {},
): Promise<readonly TemplateParameter[]> {
  const request = client.GET('/api/v2/templateversions/{version}/rich-parameters', {
    params: { path: { version } },
    ...signalOf(call),
  });
  return expectAnswer('read template parameters', templateParametersAnswer, request, call);
}
