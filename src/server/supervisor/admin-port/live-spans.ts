import { LIVE_LOOKS_KEPT } from '../../../schemas/operator/admin-port-limits.ts'
import type { LiveReading } from '../../observe/live-reader.ts'
import type { ChildLook } from '../fleet/fleet.ts'

export interface Span {
  readonly from: LiveReading
  readonly to: LiveReading
}

/** The spans of one process: since the previous look, and since the oldest kept reading. */
export interface ProcessSpans {
  readonly pid: number
  readonly last: Span
  readonly window: Span
}

/** Keeps the latest readings of each process, from which differences are computed. */
export class LiveSpans {
  readonly #kept = new Map<string, readonly LiveReading[]>()

  /** Adds a look. @returns the processes that answered in this look and the previous one */
  take(looks: readonly ChildLook[]): readonly ProcessSpans[] {
    const alive = new Set(looks.map(({ id }) => id))
    for (const id of this.#kept.keys()) if (!alive.has(id)) this.#kept.delete(id)
    return looks.flatMap((look) => this.#spansOf(look))
  }

  #spansOf({ id, pid, reading }: ChildLook): readonly ProcessSpans[] {
    if (reading === null) return []
    const kept = this.#kept.get(id) ?? []
    this.#kept.set(id, [...kept, reading].slice(-LIVE_LOOKS_KEPT))
    const [oldest, latest] = [kept[0], kept.at(-1)]
    if (oldest === undefined || latest === undefined) return []
    return [{ pid, last: { from: latest, to: reading }, window: { from: oldest, to: reading } }]
  }
}
