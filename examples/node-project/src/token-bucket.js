/** A bucket of `capacity` tokens that gains `perSecond` of them each second. Times are milliseconds. */
export function tokenBucket({ capacity, perSecond, now = 0 }) {
  if (!(capacity > 0) || !(perSecond > 0)) throw new RangeError('capacity and perSecond must be positive');
  let tokens = capacity;
  let at = now;

  function refill(time) {
    if (time <= at) return;
    tokens = Math.min(capacity, tokens + ((time - at) / 1000) * perSecond);
    at = time;
  }

  return {
    /** Takes `count` tokens at this time, or none: `true` when they were there. */
    take(count, time) {
      refill(time);
      if (count > tokens) return false;
      tokens -= count;
      return true;
    },
    /** Milliseconds from this time until `count` tokens are there; `Infinity` when they never will be. */
    waitFor(count, time) {
      refill(time);
      if (count > capacity) return Infinity;
      return count <= tokens ? 0 : Math.ceil(((count - tokens) / perSecond) * 1000);
    },
  };
}
