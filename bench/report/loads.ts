/**
 * Latencies of the product and of another subject at one load, when each was offered shares of its own
 * ceiling.
 */
import type { CurveRecord } from '../record.ts'
import { isOurs, isProduct } from './comparisons.ts'
import { figure, isTaken, plain } from './figures.ts'

export function isOfLatency({ title, y }: CurveRecord): boolean {
  return /latenc|offered load/i.test(title) && /^(?:ms|µs|us|milliseconds|microseconds)$/i.test(y.trim())
}

export interface AtLoad {
  readonly text: string
  readonly detail: string
}

/**
 * @returns a sentence for each peer; none for a curve of something else, or of a percentile that a few slow
 * requests decide
 */
export function latenciesAtLoad(curve: CurveRecord): readonly AtLoad[] {
  if (!isOfLatency(curve) || /p99\.9|slowest|\bmax/i.test(curve.title)) return []
  const [ours] = curve.lines.filter(({ name }) => isProduct(name))
  if (ours === undefined) return []
  return curve.lines.flatMap((other) => (isOurs(other.name) ? [] : besides(curve, ours, other)))
}

type Line = CurveRecord['lines'][number]

function besides({ title, x, y }: CurveRecord, ours: Line, other: Line): readonly AtLoad[] {
  const [a, b] = [taken(ours), taken(other)]
  const load = Math.min(a.at(-1)?.[0] ?? Number.NaN, b.at(-1)?.[0] ?? Number.NaN)
  const [own, theirs] = [valueAt(a, load), valueAt(b, load)]
  if (own === null || theirs === null) return []
  return [
    {
      text: `${ours.name} ${figure(own)} ${y}, ${other.name} ${figure(theirs)} ${y}`,
      detail: `${title}; ${plain(Math.round(load))} ${x}`,
    },
  ]
}

function taken({ points }: Line): Line['points'] {
  return points.filter(([x, y]) => isTaken(x) && isTaken(y)).toSorted(([a], [b]) => a - b)
}

/** Linear interpolation between two points; null outside of them. */
function valueAt(points: Line['points'], x: number): number | null {
  const after = points.findIndex(([at]) => at >= x)
  const next = points[after]
  if (next === undefined) return null
  if (next[0] === x) return next[1]
  const before = points[after - 1]
  if (before === undefined) return null
  return before[1] + ((next[1] - before[1]) * (x - before[0])) / (next[0] - before[0])
}
