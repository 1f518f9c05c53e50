import { fail, type Outcome } from '../../schemas/failures.ts'
import type { Change, EpochFeed } from '../ports/keys/keys.ts'
import { RecentChanges } from './recent-changes.ts'

/**
 * Milliseconds for which a cache of a front repeats a read because the value keeps changing; the deadline of
 * a call may end the call earlier. Decision.
 */
export const RELOADS_MS_MAX = 60_000
/**
 * Loads of one value that may become invalid because the change feed was interrupted. The next load then
 * serves the waiting calls but is not cached. Decision.
 */
export const BLIND_LOADS_MAX = 4

export interface LiveLoadsDeps {
  readonly feed: Pick<EpochFeed, 'epoch' | 'subscribe'>
  /** The name of the object that a change touches, EVERYTHING, or null when the change touches nothing in this cache. */
  readonly nameOf: (change: Change) => string | null
  /** Immediately drops everything that the cache holds under the name. */
  readonly forget: (name: string) => void
  /** Milliseconds of any clock. */
  readonly now: () => number
  readonly bounds?: LoadBounds | undefined
}

/** Concurrent loads; further ones fail with `busy`. */
export interface LoadBounds {
  readonly max: number
  /** The most concurrent loads of one tenant, so that others are not blocked; absent: `max`. */
  readonly ofOneMax?: number
}

export interface LiveRead<T> {
  readonly tenant?: string | undefined
  /** @param sending called right before the query is sent: the read may miss changes after this call */
  readonly read: (sending: () => void) => Promise<Outcome<T>>
  readonly namesOf: (value: T) => readonly string[]
  /** @param isCurrent false: the value serves the calls that wait for it, and must not be cached */
  readonly take: (value: T, isCurrent: boolean) => void
}

interface Load<T> {
  readonly done: Promise<Outcome<T>>
  /** Time at which the last call that joined stops waiting. */
  endsAt: number
}

/**
 * The rule of every cache of a front: a change drops the cached values that it touches, and a load is
 * repeated only if such a change came while it ran. Changes of other objects do not delay a load, so
 * continuous writes to one workspace delay no other workspace. One load at a time runs for each id.
 *
 * A load that is overtaken by a change of its value is repeated until no change overtakes it or its time is
 * over. A feed that was interrupted (`everything`) does not show whether this value changed: after
 * BLIND_LOADS_MAX such loads, the next one serves the calls that were waiting when it began, for which it is
 * recent enough, but is not cached.
 */
export class LiveLoads<T> {
  readonly #deps: LiveLoadsDeps
  readonly #recent: RecentChanges
  readonly #joinable = new Map<string, Load<T>>()
  readonly #leave: () => void
  readonly #ofTenant = new Map<string, number>()
  #size = 0

  constructor(deps: LiveLoadsDeps) {
    this.#deps = deps
    this.#recent = new RecentChanges(deps.feed)
    this.#leave = deps.feed.subscribe((change) => this.#onChange(change))
  }

  /**
   * Joins the load of this id in progress, or begins one. Failures: those of the read; busy (too many loads,
   * or changes without a pause).
   */
  load(id: string, input: LiveRead<T>): Promise<Outcome<T>> {
    const joined = this.#join(id)
    if (joined !== undefined) return joined
    const { tenant } = input
    if (this.#isFull(tenant)) return Promise.resolve(fail('busy', { retryAfterS: 1 }))
    this.#count(tenant, 1)
    this.#recent.begun()
    const time = { endsAt: this.#deps.now() + RELOADS_MS_MAX }
    const leave = (): void => {
      if (this.#joinable.get(id) === load) this.#joinable.delete(id)
    }
    const done = this.#repeat(input, time, leave).finally(() => {
      leave()
      this.#count(tenant, -1)
      this.#recent.ended()
    })
    const load: Load<T> = Object.assign(time, { done })
    this.#joinable.set(id, load)
    return done
  }

  close(): void {
    this.#leave()
  }

  /** The load of this id in progress; undefined if a new call cannot join any load. */
  #join(id: string): Promise<Outcome<T>> | undefined {
    const load = this.#joinable.get(id)
    if (load !== undefined) load.endsAt = this.#deps.now() + RELOADS_MS_MAX
    return load?.done
  }

  #isFull(tenant: string | undefined): boolean {
    const { max = Infinity, ofOneMax = max } = this.#deps.bounds ?? {}
    return this.#size >= max || (tenant !== undefined && (this.#ofTenant.get(tenant) ?? 0) >= ofOneMax)
  }

  #count(tenant: string | undefined, more: 1 | -1): void {
    this.#size += more
    if (tenant === undefined) return
    const count = (this.#ofTenant.get(tenant) ?? 0) + more
    if (count > 0) this.#ofTenant.set(tenant, count)
    else this.#ofTenant.delete(tenant)
  }

  #onChange(change: Change): void {
    const name = this.#deps.nameOf(change)
    if (name === null) return
    this.#recent.add(name, change.kind === 'everything' ? Infinity : change.n)
    this.#deps.forget(name)
  }

  /** @param leave ends the joining of further calls */
  async #repeat(
    { read, namesOf, take }: LiveRead<T>,
    time: { readonly endsAt: number },
    leave: () => void,
  ): Promise<Outcome<T>> {
    for (let blind = 0; ;) {
      const isLast = blind === BLIND_LOADS_MAX
      if (isLast) leave()
      let start = this.#recent.start()
      const loaded = await read(() => {
        start = this.#recent.start()
      })
      if (!loaded.ok) return loaded
      const overtaken = this.#recent.since(start, namesOf(loaded.value))
      if (overtaken === null || (overtaken === 'everything' && isLast)) {
        take(loaded.value, overtaken === null)
        return loaded
      }
      if (overtaken === 'everything') blind++
      if (this.#deps.now() >= time.endsAt)
        return fail('busy', {
          retryAfterS: 1,
          detail: 'The record is changing too often to read; retry.',
        })
    }
  }
}
