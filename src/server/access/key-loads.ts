import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { KEY_LOADS_MAX, KEY_QUERIES_MAX } from '../../schemas/keys/key-limits.ts'
import { EVERYTHING } from '../caches/recent-changes.ts'
import { LiveLoads } from '../caches/live-loads.ts'
import type { Change, EpochFeed, KeyRecord, KeyStore } from '../ports/keys/keys.ts'
import { namesOf, nameOfKey, type KnownKeys } from './known-keys.ts'

type Loaded = Outcome<KeyRecord | null>

export interface KeyLoadsDeps {
  readonly store: KeyStore
  readonly known: KnownKeys
  readonly feed: EpochFeed
  /** Milliseconds of any clock. */
  readonly now: () => number
}

/** Loads key records by the rule of `LiveLoads`. */
export class KeyLoads {
  readonly #known: KnownKeys
  readonly #queries: KeyQueries
  readonly #loads: LiveLoads<KeyRecord | null>

  constructor({ store, known, feed, now }: KeyLoadsDeps) {
    this.#known = known
    this.#queries = new KeyQueries(store)
    this.#loads = new LiveLoads({
      feed,
      nameOf,
      now,
      forget: (name) => (name === EVERYTHING ? known.clear() : known.forget(name)),
    })
  }

  /**
   * Waits for two answers of the store at most, the query in flight and its own, and for one more after each
   * change that touches the key. A null value: no such key exists. Failures: busy (too many loads, or changes
   * without a pause), store_unavailable.
   */
  load(hash: string): Promise<Loaded> {
    const joined = this.#loads.join(hash)
    if (joined !== undefined) return joined
    if (this.#loads.size >= KEY_LOADS_MAX) return Promise.resolve(fail('busy', { retryAfterS: 1 }))
    return this.#loads.load(hash, {
      read: (sending) => this.#queries.read(hash, sending),
      namesOf: (record) => (record === null ? [nameOfKey(hash)] : namesOf(record)),
      take: (record, isCurrent) => {
        if (!isCurrent) return
        if (record === null) this.#known.keepUnknown(hash)
        else this.#known.keep(record)
      },
    })
  }

  close(): void {
    this.#loads.close()
  }
}

function nameOf(change: Change): string | null {
  switch (change.kind) {
    case 'key':
      return nameOfKey(change.id)
    case 'workspace':
    case 'organization':
      return `${change.kind}/${change.id}`
    case 'everything':
      return EVERYTHING
    case 'catalogue':
    case 'vault':
    case 'private_endpoint':
    case 'preset':
      return null
    default:
      return change satisfies never
  }
}

interface MissedKey {
  readonly hash: string
  readonly sending: () => void
  readonly settle: (loaded: Loaded) => void
}

/**
 * Joins the missed keys of one turn of the loop to one query. While all queries are in flight, missed keys
 * wait for the end of one, and then go together: a client that invents keys makes queries longer, not more,
 * and keeps no other key out.
 */
class KeyQueries {
  readonly #store: KeyStore
  #waiting: MissedKey[] = []
  #queries = 0
  #turn: NodeJS.Immediate | null = null

  constructor(store: KeyStore) {
    this.#store = store
  }

  read(hash: string, sending: () => void): Promise<Loaded> {
    return new Promise((settle) => {
      this.#waiting.push({ hash, sending, settle })
      this.#turn ??= setImmediate(() => {
        this.#turn = null
        this.#sendWaiting()
      })
    })
  }

  #sendWaiting(): void {
    if (this.#waiting.length === 0 || this.#queries >= KEY_QUERIES_MAX) return
    const waiting = this.#waiting
    this.#waiting = []
    this.#queries++
    void this.#send(waiting).finally(() => {
      this.#queries--
      this.#sendWaiting()
    })
  }

  async #send(missed: readonly MissedKey[]): Promise<void> {
    for (const { sending } of missed) sending()
    // A bug in the store must not leave callers without an answer.
    const answer = await this.#store
      .load(missed.map(({ hash }) => hash))
      .catch((cause: unknown) => fail('internal', { cause }))
    if (!answer.ok) return missed.forEach(({ settle }) => settle(answer))
    const records = new Map(answer.value.map((record) => [record.hash, record]))
    for (const { hash, settle } of missed) settle(ok(records.get(hash) ?? null))
  }
}
