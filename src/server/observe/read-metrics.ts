import { Counter, Gauge, type Registry } from 'prom-client'

/** Registers one metric, whose value is taken from the reading at each collection. */
export type ReadMetric<T> = (name: string, help: string, value: (reading: T) => number) => void

/** @param aggregator what the node shows of the values of its processes; ages and flags have no sum */
export type ReadGauge<T> = (...metric: [...Parameters<ReadMetric<T>>, aggregator?: 'sum' | 'max']) => void

export interface ReadMetrics<T> {
  readonly gauge: ReadGauge<T>
  /** Its values count since the start. */
  readonly counter: ReadMetric<T>
}

/** Metrics without labels that are read on demand. */
export function readMetrics<T>(registry: Registry, read: () => T): ReadMetrics<T> {
  const registers = [registry]
  return {
    gauge: (name, help, value, aggregator = 'sum') =>
      void new Gauge({
        name,
        help,
        registers,
        aggregator,
        collect() {
          this.set(value(read()))
        },
      }),
    counter: (name, help, value) =>
      void new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset()
          this.inc(value(read()))
        },
      }),
  }
}
