/** Scales of a plot: where a value lies between 0 and 1, and the values that are named at the axis. */
import { isTaken, plain } from '../figures.ts'

export interface Tick {
  /** 0: left or bottom; 1: right or top. */
  readonly at: number
  readonly text: string
}

export interface Scale {
  readonly ticks: readonly Tick[]
  at(value: number): number
}

/** Steps between the named values of a linear scale at most. */
const LINEAR_STEPS_MAX = 4

/** From zero to a round value that no given one exceeds. */
export function linearScale(values: readonly number[]): Scale {
  const most = Math.max(0, ...values.filter(isTaken))
  const step = stepFrom(most / LINEAR_STEPS_MAX)
  const count = Math.max(1, Math.ceil(most / step - 1e-9))
  return {
    ticks: Array.from({ length: count + 1 }, (_, nth) => ({ at: nth / count, text: plain(nth * step) })),
    at: (value) => value / (count * step),
  }
}

/** The least of 1, 2, 2.5 and 5, times a power of ten, that is no less. */
function stepFrom(least: number): number {
  if (!(least > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(least))
  return [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= least * (1 - 1e-9)) ?? 10 * power
}

/** Named values of a logarithmic scale at most; above, only powers of ten are named. */
const LOG_TICKS_MAX = 6

/** Between two round values around all that are above zero: a logarithm exists for no other. */
export function logScale(values: readonly number[]): Scale {
  const drawn = values.filter((value) => isTaken(value) && value > 0)
  const [least, most] = drawn.length === 0 ? [1, 10] : [Math.min(...drawn), Math.max(...drawn)]
  const steps = stepsAround(least, most)
  const low = steps.findLast((one) => one <= least) ?? least
  const high = steps.find((one) => one >= most && one > low) ?? most
  const at = (value: number): number => Math.log(value / low) / Math.log(high / low)
  const within = steps.filter((one) => one >= low && one <= high)
  const powers = within.filter((one) => Number.isInteger(Math.log10(one)))
  const named = within.length <= LOG_TICKS_MAX || powers.length < 2 ? within : powers
  return { ticks: named.map((one) => ({ at: at(one), text: plain(one) })), at }
}

/** 1, 2 and 5 times each power of ten that may bound the values. */
function stepsAround(least: number, most: number): readonly number[] {
  const first = Math.floor(Math.log10(least))
  const count = Math.ceil(Math.log10(most)) - first + 2
  return Array.from({ length: count }, (_, nth) => first + nth).flatMap((power) =>
    // A negative power is a division: 10 ** -3 times 2 has a last digit too many.
    [1, 2, 5].map((one) => (power < 0 ? one / 10 ** -power : one * 10 ** power)),
  )
}
