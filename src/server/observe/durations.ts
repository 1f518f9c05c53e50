import { Histogram, type Registry, Counter } from 'prom-client'

interface Series {
  /** The values, separated by `|`: they are names chosen by Sluice, and none contains it. */
  readonly label: string
  /** Observations by bucket; the last count is for observations beyond all buckets. */
  readonly counts: number[]
  sum: number
}

/** A value of the exposition, in prom-client's internal form. */
interface Exposed {
  readonly metricName: string
  readonly value: number
  readonly labels: Readonly<Record<string, string | number>>
  readonly sharedLabels: Readonly<Record<string, string>>
}

/** A histogram that observes by stepping through a few numbers; prom-client's own histogram creates objects and checks its labels at every call. */
export class Durations {
  readonly #bounds: readonly number[]
  readonly #series = new Map<string, Series>()

  constructor(
    registry: Registry,
    {
      name,
      help,
      labels,
      bounds,
    }: {
      readonly name: string
      readonly help: string
      readonly labels: readonly string[]
      readonly bounds: readonly number[]
    },
  ) {
    this.#bounds = bounds
    const read = (): readonly Exposed[] =>
      [...this.#series.values()].flatMap((series) => exposed(name, { labels, bounds, series }))
    registry.registerMetric(
      new TakenOver({ name, help, labelNames: [...labels], buckets: [...bounds], registers: [] }, read),
    )
  }

  /** All observations since the start, by the values of the labels. */
  get series(): Iterable<{ readonly label: string; readonly counts: readonly number[] }> {
    return this.#series.values()
  }

  /** @param label the value of the label; several values are separated by `|` */
  observe(label: string, value: number): void {
    const series = this.#series.get(label) ?? this.#begin(label)
    const at = bucketOf(this.#bounds, value)
    series.counts[at] = (series.counts[at] ?? 0) + 1
    series.sum += value
  }

  #begin(label: string): Series {
    const series = { label, counts: new Array<number>(this.#bounds.length + 1).fill(0), sum: 0 }
    this.#series.set(label, series)
    return series
  }
}

/** Overrides the method that prom-client calls for its text and its JSON; the rest of its histogram is unchanged. */
class TakenOver extends Histogram {
  readonly #read: () => readonly Exposed[]

  constructor(configuration: ConstructorParameters<typeof Histogram>[0], read: () => readonly Exposed[]) {
    super(configuration)
    this.#read = read
  }

  async getForPromString() {
    const { name, help, type, aggregator } = this as unknown as Readonly<
      Record<'name' | 'help' | 'type' | 'aggregator', string>
    >
    return { name, help, type, aggregator, values: this.#read() }
  }
}

function exposed(
  name: string,
  {
    labels,
    bounds,
    series,
  }: {
    readonly labels: readonly string[]
    readonly bounds: readonly number[]
    readonly series: Series
  },
): readonly Exposed[] {
  const values = series.label.split('|')
  const sharedLabels = Object.fromEntries(labels.map((name, nth) => [name, values[nth] ?? '']))
  let count = 0
  const buckets = series.counts.map((some, at): Exposed => {
    count += some
    return { metricName: `${name}_bucket`, value: count, labels: { le: bounds[at] ?? '+Inf' }, sharedLabels }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, value: series.sum, labels: {}, sharedLabels },
    { metricName: `${name}_count`, value: count, labels: {}, sharedLabels },
  ]
}

/** Seconds: from the duration of a cache hit in memory to the longest deadline. */
export const CALL_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Seconds: from a model in memory to a model that reasons as long as a provider allows. */
export const FIRST_OUTPUT_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

/** The bucket of a value: the first one whose bound is not exceeded, else the bucket after all bounds. */
export function bucketOf(bounds: readonly number[], value: number): number {
  let at = 0
  while (at < bounds.length && value > (bounds[at] ?? 0)) at++
  return at
}

/**
 * A quantile in milliseconds, interpolated as if each bucket were filled evenly; null without measurements.
 * @param bounds of the buckets, in seconds
 */
export function quantileMs(
  buckets: ArrayLike<number>,
  quantile: number,
  bounds: readonly number[] = CALL_BUCKETS,
): number | null {
  let all = 0
  for (let at = 0; at < buckets.length; at++) all += buckets[at] ?? 0
  if (all === 0) return null
  const rank = quantile * all
  let below = 0
  for (let at = 0; at < bounds.length; at++) {
    const count = buckets[at] ?? 0
    if (below + count >= rank && count > 0) {
      const [from, bound] = [bounds[at - 1] ?? 0, bounds[at] ?? 0]
      return rounded((from + (bound - from) * ((rank - below) / count)) * 1_000)
    }
    below += count
  }
  return (bounds.at(-1) ?? 0) * 1_000
}

/** Rounds to three decimals: more would only lengthen an answer. */
export function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000
}

/** Branches by the value of the next label; after the last label, the object itself. */
interface Branch<T> {
  readonly next: Map<string, Branch<T>>
  made: T | null
}

/** One object for each set of label values, found by one lookup for each label. */
export class ByLabels<T> {
  readonly #root: Branch<T> = { next: new Map(), made: null }
  readonly #make: (values: readonly string[]) => T

  /** @param make called for the first use of a set of label values */
  constructor(make: (values: readonly string[]) => T) {
    this.#make = make
  }

  of(values: readonly string[]): T {
    let branch = this.#root
    for (const value of values) branch = branch.next.get(value) ?? sprout(branch, value)
    return (branch.made ??= this.#make(values))
  }
}

export interface Count {
  count: number
}

interface Cell extends Count {
  readonly labels: Readonly<Record<string, string>>
  shown: number
}

/**
 * A counter whose counting is one lookup for each label; prom-client's own counter hashes its labels at every
 * call. Counters that were never increased are not shown.
 */
export class Tally {
  readonly #cells: Cell[] = []
  readonly #byLabels = new ByLabels((values) => this.#begin(values))
  readonly #names: readonly string[]

  constructor(registry: Registry, name: string, help: string, labelNames: readonly string[]) {
    this.#names = labelNames
    const cells = this.#cells
    new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      collect() {
        for (const cell of cells) {
          if (cell.count > cell.shown) this.inc(cell.labels, cell.count - cell.shown)
          cell.shown = cell.count
        }
      },
    })
  }

  /** Every count with its labels, since the start. */
  get counts(): Iterable<Readonly<Pick<Cell, 'labels' | 'count'>>> {
    return this.#cells.filter(({ count }) => count > 0)
  }

  add(count: number, ...values: readonly string[]): void {
    this.#byLabels.of(values).count += count
  }

  /** The count of a set of label values, for code that counts often. */
  cell(...values: readonly string[]): Count {
    return this.#byLabels.of(values)
  }

  #begin(values: readonly string[]): Cell {
    const labels = Object.fromEntries(this.#names.map((name, i) => [name, values[i] ?? '']))
    const cell = { labels, shown: 0, count: 0 }
    this.#cells.push(cell)
    return cell
  }
}

function sprout<T>(branch: Branch<T>, value: string): Branch<T> {
  const grown: Branch<T> = { next: new Map(), made: null }
  branch.next.set(value, grown)
  return grown
}
