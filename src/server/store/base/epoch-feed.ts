import { EPOCH_POLL_MS, EPOCH_POLL_TIMEOUT_MS } from '../../../schemas/keys/key-limits.ts'
import { INVALIDATIONS_READ_MAX } from '../../../schemas/limits/limits.ts'
import type { CachedKind, Change, EpochFeed, Hints, Invalidation } from '../../ports/keys/keys.ts'
import type { Log } from '../../ports/observe.ts'
import { openStore, StoreSlow, type Store } from './open.ts'
import { every, type Repetition } from '../../structures/ticks.ts'

export interface EpochFeedOptions {
  readonly store: Store
  readonly hints: Hints | null
  readonly log: Log
  readonly pollMs?: number
}

export interface RunningEpochFeed extends EpochFeed {
  /** @returns true when a poll that began after the call succeeded */
  poll(): Promise<boolean>
  close(): Promise<void>
}

interface PolledRow {
  readonly epoch: string
  readonly n: string | null
  readonly kind: CachedKind | null
  readonly id: string | null
}

/**
 * Follows the epoch by polling its row, and applies hints immediately, in any order. The first poll is in
 * progress when this returns; until a poll succeeds `lastGoodPollAtMs` is 0.
 */
export function openEpochFeed(options: EpochFeedOptions): RunningEpochFeed {
  return new Feed(options)
}

class Feed implements RunningEpochFeed {
  /** A separate connection, so that polls do not wait for loads. */
  readonly #lane: Store
  readonly #log: Log
  readonly #listeners = new Set<(change: Change) => void>()
  readonly #leaveHints: () => void
  readonly #polls: Repetition
  #epoch = -1
  #lastGoodPollAtMs = 0
  readonly #openedAtMs = Date.now()
  #isBehind = false
  /** True when the last poll failed. */
  #isAway = false
  /** True when the current outage was logged: each outage has one log line. */
  #isLogged = false
  #polling: Promise<void> | null = null
  #isClosed = false

  constructor({ store, hints, log, pollMs = EPOCH_POLL_MS }: EpochFeedOptions) {
    this.#lane = openStore({
      ...store.options,
      poolMax: 1,
      applicationName: `${store.options.applicationName}-epoch`,
    })
    this.#log = log
    this.#leaveHints = hints?.subscribe((change) => this.#takeHint(change)) ?? (() => {})
    this.#polls = every(pollMs, () => void this.#pollOnce())
    void this.#pollOnce()
  }

  get epoch(): number {
    return this.#epoch
  }

  get lastGoodPollAtMs(): number {
    return this.#lastGoodPollAtMs
  }

  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  async poll(): Promise<boolean> {
    await this.#polling
    await this.#pollOnce()
    return !this.#isAway
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#polls.stop()
    this.#leaveHints()
    this.#listeners.clear()
    await this.#lane.close()
  }

  /**
   * Applies a hint before the store is asked. The channel may lose, reorder and even make up messages (two
   * installations on one Redis), so the epoch number is accepted only from the store. The store is polled
   * immediately, since another revocation may have happened in between.
   */
  #takeHint(change: Invalidation): void {
    if (this.#isClosed) return
    this.#notify(change)
    if (change.n <= this.#epoch) return
    // A poll in progress may have read before this change committed.
    if (this.#polling === null) void this.#pollOnce()
    else this.#isBehind = true
  }

  #pollOnce(): Promise<void> {
    this.#polling ??= this.#readChanges().finally(() => {
      this.#polling = null
      if (!this.#isBehind || this.#isClosed) return
      this.#isBehind = false
      void this.#pollOnce()
    })
    return this.#polling
  }

  async #readChanges(): Promise<void> {
    const seen = this.#epoch
    let rows: readonly PolledRow[]
    try {
      rows = await this.#lane.within(
        EPOCH_POLL_TIMEOUT_MS,
        (sql) => sql<PolledRow[]>`
        SELECT e.n AS epoch, i.n, i.kind, i.id FROM epoch e LEFT JOIN invalidations i ON i.n > ${seen}
        ORDER BY i.n LIMIT ${INVALIDATIONS_READ_MAX + 1}`,
      )
    } catch (problem) {
      // A single slow poll means a busy machine, for example while a front starts; the outage counts from the
      // second one.
      const isOutage = this.#isAway || !(problem instanceof StoreSlow)
      if (!this.#isClosed && !this.#isLogged && isOutage) {
        this.#log.warn('epoch.away', { cause: problem })
        this.#isLogged = true
      }
      this.#isAway = true
      return
    }
    if (this.#isClosed) return
    if (this.#isLogged)
      this.#log.info('epoch.back', {
        awayMs: Date.now() - Math.max(this.#lastGoodPollAtMs, this.#openedAtMs),
      })
    this.#isAway = false
    this.#isLogged = false
    this.#apply(seen, rows)
    // The wall clock, so that the grace period also counts while the machine sleeps.
    this.#lastGoodPollAtMs = Date.now()
  }

  #apply(seen: number, rows: readonly PolledRow[]): void {
    const epoch = Number(rows[0]?.epoch ?? 0)
    const changes = rows.flatMap(({ n, kind, id }) =>
      n === null || kind === null || id === null ? [] : [{ n: Number(n), kind, id }],
    )
    const isWhole =
      seen >= 0 &&
      epoch >= seen &&
      changes.length === epoch - seen &&
      changes.length <= INVALIDATIONS_READ_MAX
    // Changes may be missing: at the first poll, after pruned rows, with too many rows, or after a restore of the database.
    if (!isWhole) this.#notify({ kind: 'everything' })
    else for (const change of changes) this.#notify(change)
    this.#epoch = epoch
  }

  #notify(change: Change): void {
    for (const listener of this.#listeners) listener(change)
  }
}
