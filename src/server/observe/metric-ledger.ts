import { AggregatorRegistry } from 'prom-client'
import type { Snapshot } from './metrics.ts'

/** What a process said when it was asked; null when it did not answer in time. */
export interface Answer {
  readonly id: string
  readonly metrics: Snapshot | null
}

/**
 * Keeps counters from going backwards, which a scraper takes for a restart of the node: a process that does
 * not answer counts with what it said last, and one that has ended with the counters and histograms of its
 * last answer.
 */
export class MetricLedger {
  readonly #last = new Map<string, Snapshot>()
  /** Sum of all that ended. */
  #past: Promise<Snapshot> = Promise.resolve([])

  /** @param answers of all processes that run now */
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

/** A gauge of a process ends with it. */
function lasting(snapshot: Snapshot): Snapshot {
  // In JSON the type is its name, whatever the types of prom-client say.
  return snapshot.filter(({ type }) => ['counter', 'histogram'].includes(String(type)))
}

async function summed(snapshots: readonly Snapshot[]): Promise<Snapshot> {
  return AggregatorRegistry.aggregate(snapshots.map((snapshot) => [...snapshot])).getMetricsAsJSON()
}
