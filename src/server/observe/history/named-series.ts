import { HISTORY_CANDIDATES } from '../../../schemas/operator/history-limits.ts'
import type { HistoryDimension } from '../../../schemas/operator/history.ts'
import { COLUMN, type NamedColumns, OTHER_NAME } from './columns.ts'
import type { SavedHistory } from './saved-history.ts'
import { Series } from './series.ts'

/** Share of its weight that a name keeps from one minute to the next: half of it in ten minutes. Decision. */
const KEPT_SHARE = 0.93
/** Times by which a name must be busier than another to take over its series. Decision. */
const OVERTAKES = 1.5
/** Weight below which a name without a series is forgotten. */
const FORGOTTEN = 1

/** How busy a name is: its calls, where those long past count little. */
interface Weight {
  weight: number
  /** Calls of the minute under way. */
  fresh: number
}

interface Held extends Weight {
  readonly series: Series
}

/**
 * The series of the busiest names of one dimension, and one of all others. What a name had moves to the
 * others when a busier one takes its place, so that sums stay what they are.
 */
export class NamedSeries {
  readonly #max: number
  readonly #held = new Map<string, Held>()
  /** Names without a series, of which the busiest may get one. */
  readonly #candidates = new Map<string, Weight>()
  #others: Series | null = null

  /** @param max names with series of their own */
  constructor(max: number) {
    this.#max = max
  }

  /** Series in use. */
  get size(): number {
    return this.#held.size + (this.#others === null ? 0 : 1)
  }

  get others(): Series | null {
    return this.#others
  }

  get named(): Iterable<readonly [name: string, series: Series]> {
    return Array.from(this.#held, ([name, { series }]) => [name, series] as const)
  }

  add(atS: number, { name, columns }: NamedColumns): void {
    const calls = columns[COLUMN.calls] ?? 0
    const held = name === OTHER_NAME ? null : (this.#held.get(name) ?? this.#begin(name))
    if (held !== null) {
      held.fresh += calls
      held.series.add(atS, columns)
      return
    }
    this.#others ??= new Series()
    this.#others.add(atS, columns)
    const candidate = this.#candidates.get(name)
    if (candidate !== undefined) candidate.fresh += calls
    else if (name !== OTHER_NAME && this.#candidates.size < this.#max * HISTORY_CANDIDATES)
      this.#candidates.set(name, { weight: 0, fresh: calls })
  }

  /** Gives the busiest names their series; to be called once a minute. */
  settle(): void {
    for (const one of [...this.#held.values(), ...this.#candidates.values()]) {
      one.weight = one.weight * KEPT_SHARE + one.fresh
      one.fresh = 0
    }
    for (const [name, { weight }] of this.#candidates) if (weight < FORGOTTEN) this.#candidates.delete(name)
    while (this.#swap()) continue
  }

  save(): SavedHistory['by'][HistoryDimension] {
    return {
      named: Array.from(this.#held, ([name, { weight, series }]) => ({
        name,
        weight,
        series: series.save(),
      })),
      others: this.#others?.save() ?? null,
    }
  }

  /** Throws for what was saved by another layout. */
  restore({ named, others }: SavedHistory['by'][HistoryDimension]): void {
    for (const { name, weight, series } of named.slice(0, this.#max))
      this.#held.set(name, { weight, fresh: 0, series: new Series().restore(series) })
    this.#others = others === null ? null : new Series().restore(others)
  }

  #begin(name: string): Held | null {
    if (this.#held.size >= this.#max) return null
    const held = { weight: 0, fresh: 0, series: new Series() }
    this.#held.set(name, held)
    return held
  }

  /** @returns whether a name took over the series of another */
  #swap(): boolean {
    const [name, busiest] = [...this.#candidates].sort(([, a], [, b]) => b.weight - a.weight)[0] ?? []
    const [last, least] = [...this.#held].sort(([, a], [, b]) => a.weight - b.weight)[0] ?? []
    if (name === undefined || busiest === undefined || last === undefined || least === undefined) return false
    if (busiest.weight <= least.weight * OVERTAKES) return false
    this.#others ??= new Series()
    this.#others.absorb(least.series)
    this.#held.delete(last)
    this.#candidates.delete(name)
    this.#held.set(name, { ...busiest, series: least.series })
    if (least.weight >= FORGOTTEN) this.#candidates.set(last, { weight: least.weight, fresh: 0 })
    return true
  }
}
