/** What a list of timings comes to: the middle, how far it spreads, and its tail. */

/** All values in the unit of the samples (milliseconds here, unless a report says otherwise). */
export interface Summary {
  readonly samples: number;
  readonly min: number;
  /** First quartile, median and third quartile: half of all samples lie between q1 and q3. */
  readonly q1: number;
  readonly median: number;
  readonly q3: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** Summarises at least one sample; quantiles are interpolated between neighbours. @throws `RangeError` on an empty list */
export function summarise(samples: readonly number[]): Summary {
  const sorted = Float64Array.from(samples).sort();
  return {
    samples: sorted.length,
    min: quantile(sorted, 0),
    q1: quantile(sorted, 0.25),
    median: quantile(sorted, 0.5),
    q3: quantile(sorted, 0.75),
    p95: quantile(sorted, 0.95),
    p99: quantile(sorted, 0.99),
    max: quantile(sorted, 1),
  };
}

/** The value below which this share (0 to 1) of a sorted list lies. */
function quantile(sorted: Float64Array, share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  if (below === undefined || above === undefined) throw new RangeError('no samples to summarise');
  return below + (above - below) * (place - Math.floor(place));
}

/** How y grows with x: the exponent k of the best fit y = c·x^k (1 is linear, 2 quadratic), by least squares on logarithms. */
export function growthExponent(points: readonly { readonly x: number; readonly y: number }[]): number {
  const logs = points.map(({ x, y }) => ({ x: Math.log(x), y: Math.log(y) }));
  const meanX = mean(logs.map(({ x }) => x));
  const meanY = mean(logs.map(({ y }) => y));
  const covariance = logs.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const variance = logs.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return covariance / variance;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
