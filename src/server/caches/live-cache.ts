import { LRUCache } from 'lru-cache'
import type { Outcome } from '../../schemas/failures.ts'
import type { Change, EpochFeed } from '../ports/keys/keys.ts'
import { LiveLoads, type LoadBounds } from './live-loads.ts'
import { EVERYTHING } from './recent-changes.ts'

export interface LiveCacheDeps<L, V, M> {
  readonly feed: EpochFeed
  /** Milliseconds after the last good poll during which entries are served. Design §3. */
  readonly graceMs: number
  /** Milliseconds of the wall clock, as `Date.now`. */
  readonly now: () => number
  /**
   * The id or the owner that a change touches, EVERYTHING, or null when the change touches nothing in this
   * cache. Ids and owners have different names.
   */
  readonly nameOf: (change: Change) => string | null
  readonly entries: EntryDeps<L, V>
  /** Absent: a load always finds an entry. */
  readonly misses?: MissDeps<L, M>
  /** Absent: any number of loads may run. */
  readonly loads?: LoadBounds
}

interface EntryDeps<L, V> {
  readonly max: number
  /** The entry in a loaded value; null: no entry. */
  readonly of: (loaded: L) => V | null
  /** Names whose changes affect the entry, in addition to its id. */
  readonly ownersOf?: (entry: V) => readonly string[]
  /** Called for each entry that is removed from the cache, and for each that is served without being cached. */
  readonly dropped?: (entry: V) => void
}

interface MissDeps<L, M> {
  readonly max: number
  readonly of: (loaded: L) => M
  /** Milliseconds for which a miss is served, with or without the feed; absent: during the grace. */
  readonly ms?: number
}

export interface LiveLoad<L> {
  readonly id: string
  /** Loads with the same name are shared; absent: the id. */
  readonly name?: string
  /** The tenant for which `loads.ofOneMax` counts the load. */
  readonly tenant?: string
  /** @param sending called right before the query is sent: the read may miss changes after this call */
  readonly read: (sending: () => void) => Promise<Outcome<L>>
}

interface Miss<M> {
  readonly value: M
  /** Expiry in the time of `now`; null: the grace of the feed applies. */
  readonly endsAt: number | null
}

/** Shared options: without them, the cache would create an empty object at each lookup. */
const AS_USUAL = {}

/**
 * A front's cache of entries of the store by id, loaded at their first use and after every change. The least
 * recently used entries are removed first. Misses have a separate bound, so that a caller with many misses
 * does not evict entries of others. Loads follow the rule of `LiveLoads`.
 */
export class LiveCache<L, V extends {}, M extends {} = never> {
  readonly #deps: LiveCacheDeps<L, V, M>
  readonly #feed: EpochFeed
  readonly #graceMs: number
  readonly #now: () => number
  readonly #entries: LRUCache<string, V>
  readonly #misses: LRUCache<string, Miss<M>> | null
  /** Ids by owner: otherwise frequent changes of an owner would make this front search all entries each time. */
  readonly #byOwner = new Map<string, Set<string>>()
  readonly #loads: LiveLoads<L>

  constructor(deps: LiveCacheDeps<L, V, M>) {
    const { feed, graceMs, now, nameOf, entries, misses, loads } = deps
    this.#deps = deps
    this.#feed = feed
    this.#graceMs = graceMs
    this.#now = now
    this.#entries = new LRUCache({ max: entries.max, dispose: (entry, id) => this.#drop(id, entry) })
    this.#misses = misses === undefined ? null : new LRUCache({ max: misses.max })
    this.#loads = new LiveLoads({ feed, nameOf, now, forget: (name) => this.#forget(name), bounds: loads })
  }

  /** Undefined also after the grace: the entry may have changed, and only the store has its current state. */
  find(id: string): V | undefined {
    const entry = this.#entries.get(id, AS_USUAL)
    return entry !== undefined && this.#isInGrace() ? entry : undefined
  }

  findMiss(id: string): M | undefined {
    const miss = this.#misses?.get(id)
    if (miss === undefined) return undefined
    return (miss.endsAt === null ? this.#isInGrace() : this.#now() < miss.endsAt) ? miss.value : undefined
  }

  /** Ids of entries, the most recently used first. */
  list(max: number): readonly string[] {
    const ids: string[] = []
    for (const id of this.#entries.keys()) {
      if (ids.push(id) === max) break
    }
    return ids
  }

  /**
   * Joins the load of this name in progress, or begins one, and caches the result unless a change overtook
   * it.
   * Failures: those of the read; busy (too many loads, or changes without a pause).
   */
  load({ id, name = id, tenant, read }: LiveLoad<L>): Promise<Outcome<L>> {
    return this.#loads.load(name, {
      read,
      tenant,
      namesOf: (loaded) => this.#namesOf(id, loaded),
      take: (loaded, isCurrent) => this.#take(id, loaded, isCurrent),
    })
  }

  close(): void {
    this.#loads.close()
  }

  #isInGrace(): boolean {
    return this.#now() - this.#feed.lastGoodPollAtMs <= this.#graceMs
  }

  #namesOf(id: string, loaded: L): readonly string[] {
    const entry = this.#deps.entries.of(loaded)
    return entry === null ? [id] : [id, ...this.#ownersOf(entry)]
  }

  #take(id: string, loaded: L, isCurrent: boolean): void {
    const { entries, misses } = this.#deps
    const entry = entries.of(loaded)
    if (entry === null) {
      if (isCurrent && misses !== undefined) this.#keepMiss(id, misses.of(loaded), misses.ms)
    } else if (isCurrent) this.#keep(id, entry)
    else entries.dropped?.(entry)
  }

  #keep(id: string, entry: V): void {
    // The earlier entry is removed from the lists first, since it may have had other owners.
    this.#entries.delete(id)
    this.#misses?.delete(id)
    this.#entries.set(id, entry)
    for (const owner of this.#ownersOf(entry)) {
      const ids = this.#byOwner.get(owner) ?? new Set()
      this.#byOwner.set(owner, ids.add(id))
    }
  }

  #keepMiss(id: string, value: M, ms: number | undefined): void {
    this.#entries.delete(id)
    this.#misses?.set(id, { value, endsAt: ms === undefined ? null : this.#now() + ms })
  }

  #forget(name: string): void {
    if (name === EVERYTHING) {
      this.#entries.clear()
      this.#misses?.clear()
      return
    }
    this.#entries.delete(name)
    this.#misses?.delete(name)
    for (const id of this.#byOwner.get(name) ?? []) this.#entries.delete(id)
  }

  #drop(id: string, entry: V): void {
    for (const owner of this.#ownersOf(entry)) {
      const ids = this.#byOwner.get(owner)
      ids?.delete(id)
      if (ids?.size === 0) this.#byOwner.delete(owner)
    }
    this.#deps.entries.dropped?.(entry)
  }

  #ownersOf(entry: V): readonly string[] {
    return this.#deps.entries.ownersOf?.(entry) ?? NO_OWNERS
  }
}

const NO_OWNERS: readonly string[] = []
