import { AggregatorRegistry } from 'prom-client'
import type { Snapshot } from './metrics.ts'

/** The reply of a process to a request for its metrics; null when it did not reply in time. */
export interface Answer {
  readonly id: string
  readonly metrics: Snapshot | null
}

/**
 * Keeps counters from decreasing, which a scraper would take for a restart of the node. For a process that
 * does not answer, its last reply counts; for one that has ended, the counters and histograms of its last
 * reply.
 */
export class MetricLedger {
  readonly #last = new Map<string, Snapshot>()
  /** Sum over all processes that have ended. */
  #past: Promise<Snapshot> = Promise.resolve([])

  /** @param answers of all running processes */
  async read(answers: readonly Answer[]): Promise<readonly Snapshot[]> {
    for (const { id, metrics } of answers) if (metrics !== null) this.#last.set(id, metrics)
    const running = new Set(answers.map(({ id }) => id))
    const ended = [...this.#last].filter(([id]) => !running.has(id))
    for (const [id] of ended) this.#last.delete(id)
    if (ended.length > 0)
      this.#past = this.#past.then((past) =>
        summed([past, ...ended.map(([, snapshot]) => lasting(snapshot))]),
      )
    const last = [...this.#last.values()]
    return [await this.#past, ...last]
  }
}

/** The snapshot without gauges: a gauge of a process ends with the process. */
function lasting(snapshot: Snapshot): Snapshot {
  // In JSON the type is a name, although the types of prom-client say otherwise.
  return snapshot.filter(({ type }) => ['counter', 'histogram'].includes(String(type)))
}

async function summed(snapshots: readonly Snapshot[]): Promise<Snapshot> {
  return AggregatorRegistry.aggregate(snapshots.map((snapshot) => [...snapshot])).getMetricsAsJSON()
}
