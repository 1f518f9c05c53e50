import type { EpochFeed } from '../ports/keys/keys.ts'

/**
 * Names of changed objects that a cache records while loads run; above this number, every loaded value counts
 * as changed. Decision.
 */
export const RECENT_CHANGES_MAX = 10_000

/** Represents a change that may have touched any value. */
export const EVERYTHING = '*'

/** The position of a read in the sequence of changes; the read sees every earlier change. */
export interface ReadStart {
  /** Number of changes that arrived before the read. */
  readonly count: number
  /** The read sees every change up to this number, since those were committed before it. */
  readonly epoch: number
}

interface RecentChange {
  /** The count of all changes at the last arrival of this one. */
  readonly at: number
  /** The highest number that arrived with this name. */
  readonly n: number
}

/**
 * The changes that arrive while a value is read, by the names of the changed objects. A value is older than a
 * change only if the change arrived after the start of the read, has a higher number than the epoch of the
 * start, and touches the value. Changes of other objects do not count, nor does a change that a second
 * channel repeats.
 */
export class RecentChanges {
  readonly #feed: Pick<EpochFeed, 'epoch'>
  readonly #byName = new Map<string, RecentChange>()
  #everythingAt = 0
  #count = 0
  #reads = 0

  constructor(feed: Pick<EpochFeed, 'epoch'>) {
    this.#feed = feed
  }

  /** @param n the change's number; EVERYTHING has none */
  add(name: string, n: number): void {
    if (this.#reads === 0) return
    const at = ++this.#count
    if (name === EVERYTHING) {
      this.#everythingAt = at
      return
    }
    const before = this.#byName.get(name)
    if (before === undefined && this.#byName.size >= RECENT_CHANGES_MAX) {
      this.#byName.clear()
      this.#everythingAt = at
      return
    }
    // The highest number with the latest arrival: a notification may arrive late, twice or out of order.
    this.#byName.set(name, { at, n: Math.max(n, before?.n ?? n) })
  }

  /** A call of `ended` follows. */
  begun(): void {
    this.#reads++
  }

  ended(): void {
    this.#reads--
    if (this.#reads === 0) this.#byName.clear()
  }

  /** Call it right before the query is sent. */
  start(): ReadStart {
    return { count: this.#count, epoch: this.#feed.epoch }
  }

  /**
   * The kind of change that overtook a read of a value that depends on these names: `named` for one of the
   * names, `everything` for EVERYTHING; null: none.
   */
  since({ count, epoch }: ReadStart, names: readonly string[]): 'named' | 'everything' | null {
    const isNamed = names.some((name) => {
      const recent = this.#byName.get(name)
      return recent !== undefined && recent.at > count && recent.n > epoch
    })
    if (isNamed) return 'named'
    return this.#everythingAt > count ? 'everything' : null
  }
}
