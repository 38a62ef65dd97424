/** Rich parameters: their values for one build, as the server takes them. Unknown names are forgotten without a word. */
import { refuseFields } from '../http/refusal.ts';
import type { Parameter } from '../state/records.ts';

export interface Value {
  readonly name: string;
  readonly value: string;
}

/** Given values first, those of the build before next, defaults last; ordered by name. @throws 400 naming the parameter */
export function resolveParameters(
  known: readonly Parameter[],
  given: readonly Value[],
  before: readonly Value[],
): Value[] {
  return [...known]
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map((parameter) => {
      const { name } = parameter;
      const value =
        valueOf(given, name) ?? valueOf(before, name) ?? (parameter.required ? null : parameter.defaultValue);
      if (value === null) throw refused(name, `parameter value is required: ${name}`);
      check(parameter, value);
      return { name, value };
    });
}

function valueOf(values: readonly Value[], name: string): string | undefined {
  return values.find((value) => value.name === name)?.value;
}

function check({ name, type, options, min, max }: Parameter, value: string): void {
  if (options.length > 0 && !options.includes(value)) {
    throw refused(name, `Value must be a valid option; the value "${value}" must be defined as one of options`);
  }
  if (type !== 'number') return;
  const number = Number(value);
  if (value.trim() === '' || Number.isNaN(number)) throw refused(name, `value ${value} is not a number`);
  const wrong =
    max !== null && number > max
      ? `is more than the maximum ${max}`
      : min !== null && number < min
        ? `is less than the minimum ${min}`
        : null;
  if (wrong !== null) {
    throw refused(name, `Invalid parameter value according to 'validation' block; value ${value} ${wrong}`);
  }
}

function refused(field: string, detail: string) {
  return refuseFields('Unable to validate parameters', [{ field, detail }]);
}

export function parameterView({ name, type, formType, mutable, required, defaultValue, options, min, max }: Parameter) {
  return {
    name,
    description: '',
    description_plaintext: '',
    type,
    form_type: formType,
    mutable,
    default_value: defaultValue,
    icon: '',
    options: options.map((value) => ({ name: value, description: '', value, icon: '' })),
    ...(min === null ? {} : { validation_min: min }),
    ...(max === null ? {} : { validation_max: max }),
    required,
    ephemeral: false,
  };
}
