import { Counter, Gauge, type Registry } from 'prom-client'

/** A metric whose value is read at each scrape. */
interface ReadMetric<R> {
  readonly help: string
  readonly labels?: readonly string[]
  /** How the node combines the values of its processes: ages and flags cannot be summed. */
  readonly aggregator?: 'max'
  /** With labels: a value for each set of labels, whose values are joined by `|`. */
  readonly value: (reading: R) => number | Iterable<readonly [labels: string, value: number]>
}

/** Metrics of one reading, by name: counters since the start if the name ends with `_total`, else gauges. */
export type ReadTable<R> = Readonly<Record<string, ReadMetric<R>>>

/** @param read called once at each scrape */
export function watchMetrics<R>(registry: Registry, table: ReadTable<R>, read: () => R): void {
  let reading: R | null = null
  const [first] = Object.keys(table)
  for (const [name, { help, labels = [], aggregator = 'sum', value }] of Object.entries(table)) {
    const declared = { name, help, labelNames: [...labels], registers: [registry] }
    const values = (): Iterable<readonly [Readonly<Record<string, string>>, number]> => {
      // prom-client collects metrics in the order of their registration: the first one takes the reading for all.
      if (name === first) reading = read()
      const found = value(reading as R)
      if (typeof found === 'number') return [[{}, found]]
      return Array.from(found, ([joined, one]) => [labelled(labels, joined), one] as const)
    }
    if (name.endsWith('_total'))
      new Counter({
        ...declared,
        collect() {
          this.reset()
          for (const [of, one] of values()) this.inc(of, one)
        },
      })
    else
      new Gauge({
        ...declared,
        aggregator,
        collect() {
          for (const [of, one] of values()) this.set(of, one)
        },
      })
  }
}

function labelled(names: readonly string[], joined: string): Readonly<Record<string, string>> {
  const values = names.length === 1 ? [joined] : joined.split('|')
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? '']))
}
