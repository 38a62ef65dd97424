/** The check that the server does not make: it takes unknown parameter names and forgets them. */
import type { TemplateParameter } from '../../schemas/coder/template.ts';
import type { ParameterValue } from '../../schemas/coder/workspace.ts';
import { portcullisError } from '../../schemas/errors.ts';

/**
 * Limits on values (numbers, patterns) stay the server's: it refuses those by field.
 *
 * @throws `coder_parameter_invalid` unknown, given twice, missing though required, or not one of the options
 */
export function checkParameters(known: readonly TemplateParameter[], values: readonly ParameterValue[]): void {
  const byName = new Map(known.map((parameter) => [parameter.name, parameter]));
  const given = new Set<string>();
  for (const { name, value } of values) {
    const parameter = byName.get(name);
    if (parameter === undefined) throw invalid(name, 'it is unknown there');
    if (given.has(name)) throw invalid(name, 'it is given twice');
    given.add(name);
    if (parameter.options.length > 0 && !parameter.options.includes(value)) {
      throw invalid(name, `its value is not one of ${parameter.options.join(', ')}`);
    }
  }
  const missing = known.find(({ name, required }) => required && !given.has(name));
  if (missing !== undefined) throw invalid(missing.name, 'it is required and not given');
}

function invalid(name: string, reason: string) {
  return portcullisError('coder_parameter_invalid', { name, reason });
}
