import { BLIND_LOADS_MAX, RELOADS_MS_MAX } from '../../../src/server/caches/live-loads.ts'
/** What a live cache has to answer, spelled out apart from the code that is tested, for a few things. */

/** The number of the last change of an existing thing; null when there is none. */
export type Value = number | null

export type Answer = number | 'missing' | 'busy' | 'away'

export interface CacheRules {
  readonly max: number
  /** Null: a thing that is not there is an entry as any other. `ms` null: the grace decides. */
  readonly misses: { readonly max: number; readonly ms: number | null } | null
  /** Loads at once, and loads at once of things of one owner. */
  readonly loads: { readonly max: number; readonly ofOneMax: number }
  /** A change of an owner touches the things that are there and belong to the owner. */
  readonly hasOwners: boolean
}

/** A change of one thing, of all things of an owner, or of unknown things. */
export type ModelChange =
  | { readonly kind: 'thing'; readonly n: number; readonly at: number }
  | { readonly kind: 'owner'; readonly n: number; readonly owner: number }
  | { readonly kind: 'everything' }

/** State of the feed, which the model reads. */
interface Feed {
  readonly epoch: number
  readonly lastGoodPollAtMs: number
}

interface ModelLoad {
  readonly at: number
  readonly waiting: number[]
  isJoinable: boolean
  endsAt: number
  blind: number
  /** Changes that were published before the read, and the epoch at that time. */
  reportedBefore: number
  epoch: number
}

export const GRACE_MS = 10_000
export const THINGS = 4

export function ownerOf(at: number): number {
  return at >> 1
}

export class CacheModel {
  readonly rules: CacheRules
  /** In the order of the reads that the store has to answer. */
  readonly loads: ModelLoad[] = []
  /** By the number of the call; a call that waits has none. */
  readonly answers: Answer[] = []
  /** Entries that left the cache, or were served without being cached. */
  dropped = 0
  now = 0
  readonly #feed: Feed
  /** The least recently used first. */
  readonly #entries = new Map<number, Value>()
  readonly #misses = new Map<number, number>()
  /** Changes that were published while loads were under way. */
  #reported: ModelChange[] = []

  constructor(rules: CacheRules, feed: Feed) {
    this.rules = rules
    this.#feed = feed
  }

  /** The most recently used first. */
  list(): readonly number[] {
    return [...this.#entries.keys()].reverse()
  }

  /** @returns the answer when it is known at once; null: the call waits for a load, or is refused */
  ask(at: number, call: number): Answer | null {
    const found = this.#find(at)
    if (found !== undefined) return found ?? 'missing'
    const joined = this.loads.find((load) => load.at === at && load.isJoinable)
    if (joined !== undefined) {
      joined.endsAt = this.now + RELOADS_MS_MAX
      joined.waiting.push(call)
      return null
    }
    const { max, ofOneMax } = this.rules.loads
    const ofOne = this.loads.filter((load) => ownerOf(load.at) === ownerOf(at)).length
    if (this.loads.length >= max || ofOne >= ofOneMax) {
      this.answers[call] = 'busy'
      return null
    }
    const endsAt = this.now + RELOADS_MS_MAX
    this.#read({ at, waiting: [call], isJoinable: true, endsAt, blind: 0, reportedBefore: 0, epoch: 0 })
    return null
  }

  tell(change: ModelChange): void {
    if (this.loads.length > 0) this.#reported.push(change)
    for (const [at, value] of this.#entries) if (this.#touches(change, at, value)) this.#drop(at)
    for (const at of this.#misses.keys()) if (this.#touches(change, at, null)) this.#misses.delete(at)
  }

  /** The store answers the read of this place in the order. */
  settle(nth: number, value: Value | 'away'): void {
    const [load] = this.loads.splice(nth, 1)
    if (load === undefined) throw new Error('there is no such load')
    const overtaken = value === 'away' ? null : this.#overtaken(load, value)
    const isLast = load.blind === BLIND_LOADS_MAX
    if (value === 'away') this.#end(load, 'away')
    else if (overtaken === null || (overtaken === 'everything' && isLast)) {
      if (overtaken === null) this.#keep(load.at, value)
      else if (this.#isEntry(value)) this.dropped++
      this.#end(load, value ?? 'missing')
    } else {
      if (overtaken === 'everything') load.blind++
      if (this.now >= load.endsAt) this.#end(load, 'busy')
      else this.#read(load)
    }
    if (this.loads.length === 0) this.#reported = []
  }

  #end({ waiting }: ModelLoad, answer: Answer): void {
    for (const call of waiting) this.answers[call] = answer
  }

  #read(load: ModelLoad): void {
    load.reportedBefore = this.#reported.length
    load.epoch = this.#feed.epoch
    if (load.blind === BLIND_LOADS_MAX) load.isJoinable = false
    this.loads.push(load)
  }

  #overtaken({ at, reportedBefore, epoch }: ModelLoad, value: Value): 'named' | 'everything' | null {
    const since = this.#reported.slice(reportedBefore)
    const isNamed = since.some((change) => {
      if (change.kind === 'everything' || !this.#touches(change, at, value)) return false
      // The highest number published for the name counts: a late hint comes with the number of an older one.
      return this.#reported.some((other) => isOfName(other, change) && other.n > epoch)
    })
    if (isNamed) return 'named'
    return since.some(({ kind }) => kind === 'everything') ? 'everything' : null
  }

  #touches(change: ModelChange, at: number, value: Value): boolean {
    if (change.kind === 'everything') return true
    if (change.kind === 'thing') return change.at === at
    return this.rules.hasOwners && value !== null && ownerOf(at) === change.owner
  }

  /** Null: known not to be there; undefined: the store has to be asked. */
  #find(at: number): Value | undefined {
    const isInGrace = this.now - this.#feed.lastGoodPollAtMs <= GRACE_MS
    const entry = use(this.#entries, at)
    if (entry !== undefined && isInGrace) return entry
    const endsAt = use(this.#misses, at)
    if (endsAt === undefined) return undefined
    return (this.rules.misses?.ms === null ? isInGrace : this.now < endsAt) ? null : undefined
  }

  #isEntry(value: Value): boolean {
    return value !== null || this.rules.misses === null
  }

  #keep(at: number, value: Value): void {
    const { max, misses } = this.rules
    if (this.#entries.has(at)) this.#drop(at)
    this.#misses.delete(at)
    if (this.#isEntry(value)) this.#entries.set(at, value)
    else this.#misses.set(at, this.now + (misses?.ms ?? 0))
    if (this.#entries.size > max) this.#drop(this.list().at(-1) ?? at)
    const [oldest] = this.#misses.keys()
    if (oldest !== undefined && this.#misses.size > (misses?.max ?? 0)) this.#misses.delete(oldest)
  }

  #drop(at: number): void {
    this.#entries.delete(at)
    this.dropped++
  }
}

function isOfName(
  other: ModelChange,
  change: ModelChange,
): other is Exclude<ModelChange, { kind: 'everything' }> {
  if (other.kind === 'thing') return change.kind === 'thing' && other.at === change.at
  return other.kind === 'owner' && change.kind === 'owner' && other.owner === change.owner
}

/** The value under the key, which becomes the most recently used one. */
function use<K, V>(map: Map<K, V>, key: K): V | undefined {
  const value = map.get(key)
  if (value !== undefined && map.delete(key)) map.set(key, value)
  return value
}
