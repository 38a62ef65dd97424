/** The tests' own set-up: the official A2A and Temporal clients of PyPI, each in an environment of its own, made once. */
import { pythonWithClient, pythonWithTemporal } from './environment.ts';

const note = setTimeout(
  () => console.error('portcullis: fetching the A2A and Temporal clients for the tests (pip) …'),
  500,
);
await pythonWithClient();
await pythonWithTemporal();
clearTimeout(note);
