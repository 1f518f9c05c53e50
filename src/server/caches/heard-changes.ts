import { HEARD_CHANGES_MAX } from '../../schemas/keys/key-limits.ts'
import type { EpochFeed } from '../ports/keys/keys.ts'

/** The name of a change that may have touched any value. */
export const EVERYTHING = '*'

/** Where a read stands among the changes: what came before it is in what it reads. */
export interface ReadStart {
  /** Changes that were heard before it. */
  readonly count: number
  /** Every change up to this number was committed before it. */
  readonly epoch: number
}

interface Heard {
  /** The count of changes when it was heard last. */
  readonly at: number
  /** The highest number that was heard of it. */
  readonly n: number
}

/**
 * The changes that were heard while something is read, by what they touch. A value that was read is older
 * than a change only if that was heard behind the start of the read, has a higher number than the epoch of
 * the start, and touches the value. Changes of other things are none of its concern, nor is one that a second
 * channel tells again.
 */
export class HeardChanges {
  readonly #feed: Pick<EpochFeed, 'epoch'>
  readonly #byName = new Map<string, Heard>()
  #everythingAt = 0
  #count = 0
  #reads = 0

  constructor(feed: Pick<EpochFeed, 'epoch'>) {
    this.#feed = feed
  }

  /** @param n the change's number; of EVERYTHING it is not known */
  hear(name: string, n: number): void {
    if (this.#reads === 0) return
    const at = ++this.#count
    if (name === EVERYTHING) {
      this.#everythingAt = at
      return
    }
    const before = this.#byName.get(name)
    if (before === undefined && this.#byName.size >= HEARD_CHANGES_MAX) {
      this.#byName.clear()
      this.#everythingAt = at
      return
    }
    // The highest number with the latest instant: a hint may come late, twice or in another order.
    this.#byName.set(name, { at, n: Math.max(n, before?.n ?? n) })
  }

  /** Each is ended by `ended`. */
  begun(): void {
    this.#reads++
  }

  ended(): void {
    this.#reads--
    if (this.#reads === 0) this.#byName.clear()
  }

  /** Call it right before the store is asked. */
  start(): ReadStart {
    return { count: this.#count, epoch: this.#feed.epoch }
  }

  /**
   * What overtook a read whose value depends on these names: a change that names one of them, EVERYTHING, or
   * nothing.
   */
  since({ count, epoch }: ReadStart, names: readonly string[]): 'named' | 'everything' | null {
    const isNamed = names.some((name) => {
      const heard = this.#byName.get(name)
      return heard !== undefined && heard.at > count && heard.n > epoch
    })
    if (isNamed) return 'named'
    return this.#everythingAt > count ? 'everything' : null
  }
}
