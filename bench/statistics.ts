/**
 * Statistics of repeats: medians with least and most, since machines are shared and their noise is not
 * normally distributed.
 */

export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** A median and the interval that contains it with 95 % confidence. */
export interface Interval {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** Median, least and most; missing values (NaN) are left out. @returns NaN in each field without values */
export function spread(values: readonly number[]): Spread {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b)
  return { median: medianOf(sorted), min: sorted[0] ?? Number.NaN, max: sorted.at(-1) ?? Number.NaN }
}

/** Samples drawn with replacement; more samples change only the third digit of the bounds. */
const DRAWS = 2_000

/**
 * Ratios inside each repeat: a slower machine slowed both sides.
 * @returns the median of the ratios, and the percentile bootstrap of that median; the same values give the
 * same interval
 */
export function pairedRatio(over: readonly number[], under: readonly number[]): Interval {
  return paired(over, under, (value, other) => value / other)
}

/** Differences inside each repeat, otherwise as `pairedRatio`. */
export function pairedDifference(over: readonly number[], under: readonly number[]): Interval {
  return paired(over, under, (value, other) => value - other)
}

function paired(
  over: readonly number[],
  under: readonly number[],
  combine: (value: number, other: number) => number,
): Interval {
  const found = over.flatMap((value, at) => {
    const other = under[at]
    const one = other === undefined ? Number.NaN : combine(value, other)
    return Number.isFinite(one) ? [one] : []
  })
  const draw = redrawn()
  const medians = Array.from({ length: found.length === 0 ? 0 : DRAWS }, () => draw(found)).sort(
    (a, b) => a - b,
  )
  return { median: spread(found).median, ...boundsOf(medians) }
}

/**
 * The median of one series over that of another from another time, so that their values form no pairs.
 * @returns that ratio, and its percentile bootstrap; the same values give the same interval
 */
export function changeOf(now: readonly number[], then: readonly number[]): Interval {
  const draw = redrawn()
  const isEmpty = now.length === 0 || then.length === 0
  const ratios = Array.from({ length: isEmpty ? 0 : DRAWS }, () => draw(now) / draw(then)).sort(
    (a, b) => a - b,
  )
  return { median: spread(now).median / spread(then).median, ...boundsOf(ratios) }
}

/** @param sorted DRAWS values in order, or none */
function boundsOf(sorted: readonly number[]): Pick<Interval, 'low' | 'high'> {
  return {
    low: sorted[Math.floor(DRAWS * 0.025)] ?? Number.NaN,
    high: sorted[Math.ceil(DRAWS * 0.975) - 1] ?? Number.NaN,
  }
}

/** @returns a function for the median of as many values as given, each drawn from all of them */
function redrawn(): (values: readonly number[]) => number {
  const random = steps()
  return (values) =>
    spread(values.map(() => values[Math.floor(random() * values.length)] ?? Number.NaN)).median
}

/**
 * The generator of Park and Miller: 0 to 1, the same numbers each time, so that a report can be made again
 * from its samples.
 */
function steps(): () => number {
  let state = 20_261_121
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

function medianOf(sorted: readonly number[]): number {
  const middle = sorted.length / 2
  const low = sorted[Math.ceil(middle) - 1] ?? Number.NaN
  const high = sorted[Math.floor(middle)] ?? Number.NaN
  return (low + high) / 2
}
