import assert from 'node:assert/strict';
import { test } from 'node:test';
import { milliseconds } from './duration.js';

test('reads a duration', () => assert.equal(milliseconds('2 days'), 172_800_000));
test('refuses what is none', () => assert.throws(() => milliseconds('soon'), RangeError));
