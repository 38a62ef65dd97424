/** The tests' own set-up: the official A2A client of PyPI in an environment of its own, made once. */
import { pythonWithClient } from './environment.ts';

const note = setTimeout(() => console.error('portcullis: fetching the A2A client for the tests (pip) …'), 500);
await pythonWithClient();
clearTimeout(note);
