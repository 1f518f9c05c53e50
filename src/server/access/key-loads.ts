import { fail, type Outcome } from '../../schemas/failures.ts'
import { KEY_LOADS_MAX } from '../../schemas/limits.ts'
import type { KeyRecord, KeyStore } from '../ports/keys.ts'
import type { Change, KnownKeys } from './known-keys.ts'

/** Tries of one load whose answer was overtaken by an invalidation each time. */
const LOAD_TRIES = 4

interface Flight {
  /** An invalidation that may concern it arrived since it was sent: its answer may be older than that. */
  isOvertaken: boolean
}

interface Load {
  readonly flight: Flight
  readonly done: Promise<Outcome<KeyRecord | null>>
}

/** Loads of key records: one at a time for each key, few at a time in all, and none that an invalidation overtook. */
export class KeyLoads {
  readonly #inFlight = new Map<string, Load>()
  readonly #store: KeyStore
  readonly #known: KnownKeys

  constructor(store: KeyStore, known: KnownKeys) {
    this.#store = store
    this.#known = known
  }

  /** Failures: busy (too many loads), store_unavailable. A null value: there is no such key. */
  load(hash: string): Promise<Outcome<KeyRecord | null>> {
    const joined = this.#inFlight.get(hash)
    if (joined !== undefined) return joined.done
    if (this.#inFlight.size >= KEY_LOADS_MAX) return Promise.resolve(fail('busy', { retryAfterS: 1 }))
    const flight = { isOvertaken: false }
    const done = this.#run(hash, flight).finally(() => this.#inFlight.delete(hash))
    this.#inFlight.set(hash, { flight, done })
    return done
  }

  /** Must hear every change before anybody acts on it. */
  overtake(change: Change): void {
    if (change.kind === 'key') {
      const load = this.#inFlight.get(change.id)
      if (load !== undefined) load.flight.isOvertaken = true
    } else if (change.kind !== 'catalogue') {
      // Whose keys these are is not known before they are loaded.
      for (const load of this.#inFlight.values()) load.flight.isOvertaken = true
    }
  }

  async #run(hash: string, flight: Flight): Promise<Outcome<KeyRecord | null>> {
    for (let tries = 0; tries < LOAD_TRIES; tries++) {
      flight.isOvertaken = false
      const loaded = await this.#store.load(hash)
      if (flight.isOvertaken) continue
      if (loaded.ok && loaded.value !== null) this.#known.keep(loaded.value)
      if (loaded.ok && loaded.value === null) this.#known.keepUnknown(hash)
      return loaded
    }
    return fail('busy', { retryAfterS: 1, detail: 'The key changes faster than it can be read.' })
  }
}
