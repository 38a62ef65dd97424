import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenBucket } from '../src/token-bucket.js';

test('a full bucket gives its capacity and then nothing', () => {
  const bucket = tokenBucket({ capacity: 3, perSecond: 1 });
  assert.equal(bucket.take(3, 0), true);
  assert.equal(bucket.take(1, 0), false);
});

test('tokens come back over time, up to the capacity', () => {
  const bucket = tokenBucket({ capacity: 2, perSecond: 1 });
  bucket.take(2, 0);
  assert.equal(bucket.take(1, 1000), true);
  assert.equal(bucket.take(3, 60_000), false);
  assert.equal(bucket.take(2, 60_000), true);
});

test('a request that is refused takes nothing', () => {
  const bucket = tokenBucket({ capacity: 2, perSecond: 1 });
  assert.equal(bucket.take(5, 0), false);
  assert.equal(bucket.take(2, 0), true);
});

test('a clock that goes back gives nothing', () => {
  const bucket = tokenBucket({ capacity: 1, perSecond: 1, now: 5000 });
  bucket.take(1, 5000);
  assert.equal(bucket.take(1, 1000), false);
});

test('the wait is told in milliseconds', () => {
  const bucket = tokenBucket({ capacity: 10, perSecond: 4 });
  bucket.take(10, 0);
  assert.equal(bucket.waitFor(1, 0), 250);
  assert.equal(bucket.waitFor(11, 0), Infinity);
});

test('capacity and rate must be positive', () => {
  assert.throws(() => tokenBucket({ capacity: 0, perSecond: 1 }), RangeError);
  assert.throws(() => tokenBucket({ capacity: 1, perSecond: -1 }), RangeError);
});
