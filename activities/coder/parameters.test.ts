import { expect, test } from 'vitest';
import { recorded } from '../../test/coder/recordings.ts';
import { templateParametersAnswer } from './answers.schema.ts';
import { checkParameters } from './parameters.ts';

const known = templateParametersAnswer.parse(recorded('00', 22).body);
const ticket = { name: 'ticket', value: 'T-42' };

test('values of the template are taken', () => {
  expect(() => checkParameters(known, [ticket, { name: 'fail_on', value: 'start' }])).not.toThrow();
});

test.each([
  ['an unknown name, which the server ignores', [ticket, { name: 'nope', value: '1' }]],
  ['a value that is no option', [ticket, { name: 'fail_on', value: 'maybe' }]],
  ['a name given twice', [ticket, ticket]],
])('%s is refused before anything is asked for', (_, values) => {
  expect(() => checkParameters(known, values)).toThrow(expect.objectContaining({ code: 'coder_parameter_invalid' }));
});

test('a required parameter that is not given is refused', () => {
  const required = known.map((parameter) => ({ ...parameter, required: parameter.name === 'ticket' }));
  expect(() => checkParameters(required, [])).toThrow(expect.objectContaining({ code: 'coder_parameter_invalid' }));
});
