import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { KEY_QUERIES_MAX } from '../../schemas/keys/key-limits.ts'
import type { KeyStore } from '../ports/keys/keys.ts'
import { knownKey, type KnownKey, type KnownKeys } from './known-keys.ts'

type Loaded = Outcome<KnownKey | null>

/** Loads key records into the cache of a front. */
export class KeyLoads {
  readonly #known: KnownKeys
  readonly #queries: KeyQueries

  constructor(store: KeyStore, known: KnownKeys) {
    this.#known = known
    this.#queries = new KeyQueries(store)
  }

  /**
   * Waits for two answers of the store at most, the query in flight and its own, and for one more after each
   * change that touches the key. A null value: no such key exists. Failures: busy (too many loads, or changes
   * without a pause), store_unavailable.
   */
  load(hash: string): Promise<Loaded> {
    return this.#known.load({ id: hash, read: (sending) => this.#queries.read(hash, sending) })
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
    const records = new Map(answer.value.map((record) => [record.hash, knownKey(record)]))
    for (const { hash, settle } of missed) settle(ok(records.get(hash) ?? null))
  }
}
