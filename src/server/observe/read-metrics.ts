import { Counter, Gauge, type Registry } from 'prom-client'

/** Registers one metric, whose value is taken from the reading at each collection. */
export type ReadMetric<T> = (name: string, help: string, value: (reading: T) => number) => void

export interface ReadMetrics<T> {
  readonly gauge: ReadMetric<T>
  /** Its values count since the start. */
  readonly counter: ReadMetric<T>
}

/** Metrics without labels that are read on demand. */
export function readMetrics<T>(registry: Registry, read: () => T): ReadMetrics<T> {
  const registers = [registry]
  return {
    gauge: (name, help, value) =>
      void new Gauge({
        name,
        help,
        registers,
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
