import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { KEY_LOADS_MAX, KEY_QUERIES_MAX } from '../../schemas/limits.ts'
import type { Change, KeyRecord, KeyStore } from '../ports/keys.ts'
import type { KnownKeys } from './known-keys.ts'

/** Tries of one load whose answer was overtaken by an invalidation each time. */
const LOAD_TRIES = 4

type Loaded = Outcome<KeyRecord | null>

interface Load {
  readonly hash: string
  readonly done: Promise<Loaded>
  readonly settle: (loaded: Loaded) => void
  tries: number
  /** An invalidation that may concern it arrived since it was sent: its answer may be older than that. */
  isOvertaken: boolean
}

/**
 * Loads of key records: one at a time for each key, all that are missed in one turn by one query, and none that an
 * invalidation overtook. What comes while every query is out waits for one to end, and then goes with all that wait:
 * somebody who makes up keys makes queries longer, not more, and keeps nobody else's key out.
 */
export class KeyLoads {
  readonly #loads = new Map<string, Load>()
  #waiting: Load[] = []
  #queries = 0
  #turn: NodeJS.Immediate | null = null
  readonly #store: KeyStore
  readonly #known: KnownKeys

  constructor(store: KeyStore, known: KnownKeys) {
    this.#store = store
    this.#known = known
  }

  /**
   * Waits for at most two answers of the store, the one that is out and its own. A null value: there is no such key.
   * Failures: busy (too many loads), store_unavailable.
   */
  load(hash: string): Promise<Loaded> {
    const joined = this.#loads.get(hash)
    if (joined !== undefined) return joined.done
    if (this.#loads.size >= KEY_LOADS_MAX) return Promise.resolve(fail('busy', { retryAfterS: 1 }))
    const load = newLoad(hash)
    this.#loads.set(hash, load)
    this.#wait(load)
    return load.done
  }

  /** Must hear every change before anybody acts on it. */
  overtake(change: Change): void {
    switch (change.kind) {
      case 'key': {
        const load = this.#loads.get(change.id)
        if (load !== undefined) load.isOvertaken = true
        return
      }
      case 'workspace':
      case 'organization':
      case 'everything':
        // Whose keys these are is not known before they are loaded.
        for (const load of this.#loads.values()) load.isOvertaken = true
        return
      case 'catalogue':
      case 'vault':
      case 'private_endpoint':
      case 'preset':
        return
      default:
        return change satisfies never
    }
  }

  #wait(load: Load): void {
    this.#waiting.push(load)
    this.#turn ??= setImmediate(() => {
      this.#turn = null
      this.#sendWaiting()
    })
  }

  #sendWaiting(): void {
    if (this.#waiting.length === 0 || this.#queries >= KEY_QUERIES_MAX) return
    const loads = this.#waiting
    this.#waiting = []
    this.#queries++
    void this.#send(loads).finally(() => {
      this.#queries--
      this.#sendWaiting()
    })
  }

  async #send(loads: readonly Load[]): Promise<void> {
    for (const load of loads) {
      load.tries++
      load.isOvertaken = false
    }
    const asked = loads.map((load) => load.hash)
    // A bug of the store's must not leave callers without an answer.
    const answer = await this.#store.load(asked).catch((cause: unknown) => fail('internal', { cause }))
    if (!answer.ok) return loads.forEach((load) => this.#settle(load, answer))
    const records = new Map(answer.value.map((record) => [record.hash, record]))
    for (const load of loads) this.#take(load, records.get(load.hash) ?? null)
  }

  #take(load: Load, record: KeyRecord | null): void {
    if (!load.isOvertaken) {
      if (record === null) this.#known.keepUnknown(load.hash)
      else this.#known.keep(record)
      return this.#settle(load, ok(record))
    }
    if (load.tries < LOAD_TRIES) return this.#wait(load)
    const detail = 'The key changes faster than it can be read.'
    this.#settle(load, fail('busy', { retryAfterS: 1, detail }))
  }

  #settle(load: Load, loaded: Loaded): void {
    this.#loads.delete(load.hash)
    load.settle(loaded)
  }
}

function newLoad(hash: string): Load {
  let settle: Load['settle'] = () => undefined
  const done = new Promise<Loaded>((resolve) => {
    settle = resolve
  })
  return { hash, done, settle, tries: 0, isOvertaken: false }
}
