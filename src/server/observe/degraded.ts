import type { Log } from '../ports/observe.ts'

/** A store that a process can do without for a while. */
export type DependencyName = 'postgres' | 'redis'

/** Which dependencies this process misses, and since when; a front tells its supervisor. Design §11. */
export interface DegradedModes {
  set(name: DependencyName, isDegraded: boolean): void
  /** ISO instants of the beginning, by name; empty when nothing is missing. */
  readonly since: Readonly<Partial<Record<DependencyName, string>>>
  /** For the metrics: every dependency, true while it is missing. */
  readonly flags: Readonly<Record<DependencyName, boolean>>
}

/** Opens the registry; nothing is missing at first. */
export function openDegradedModes({ log, epochNow = Date.now }: { log: Log; epochNow?: () => number }): DegradedModes {
  const since: Partial<Record<DependencyName, string>> = {}
  return {
    set(name, isDegraded) {
      if (isDegraded === (since[name] !== undefined)) return
      if (isDegraded) since[name] = new Date(epochNow()).toISOString()
      else delete since[name]
      log[isDegraded ? 'warn' : 'info'](isDegraded ? 'degraded' : 'recovered', { dependency: name })
    },
    get since() { return { ...since } },
    get flags() { return { postgres: since.postgres !== undefined, redis: since.redis !== undefined } },
  }
}
