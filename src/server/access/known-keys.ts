import { LRUCache } from 'lru-cache'
import { ok, type Outcome } from '../../schemas/failures.ts'
import { KEYS_CACHED_MAX, UNKNOWN_KEYS_CACHED_MAX, UNKNOWN_KEY_TTL_MS } from '../../schemas/limits.ts'
import type { Change, KeyRecord } from '../ports/keys.ts'

/** A cached record with the outcome that a hit returns, made once. */
export interface KnownKey {
  readonly record: KeyRecord
  readonly outcome: Outcome<KeyRecord>
}

/** What this front remembers of keys: those it knows, and those it knows to be unknown. Both are bounded. */
export class KnownKeys {
  readonly #known = new LRUCache<string, KnownKey>({ max: KEYS_CACHED_MAX })
  /** Hash → instant until which it is remembered, on the clock of `now`. */
  readonly #unknown = new LRUCache<string, number>({ max: UNKNOWN_KEYS_CACHED_MAX })
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  find(hash: string): KnownKey | undefined {
    return this.#known.get(hash)
  }

  isUnknown(hash: string): boolean {
    const until = this.#unknown.get(hash)
    return until !== undefined && this.#now() < until
  }

  keep(record: KeyRecord): KnownKey {
    const known: KnownKey = { record: Object.freeze(record), outcome: ok(record) }
    this.#known.set(record.hash, known)
    this.#unknown.delete(record.hash)
    return known
  }

  keepUnknown(hash: string): void {
    this.#known.delete(hash)
    this.#unknown.set(hash, this.#now() + UNKNOWN_KEY_TTL_MS)
  }

  /** Forgets all that the change may have touched. */
  forget(change: Change): void {
    switch (change.kind) {
      case 'key':
        this.#known.delete(change.id)
        this.#unknown.delete(change.id)
        return
      case 'workspace':
        return this.#forgetWhere((record) => record.workspaceId === change.id || record.defaultWorkspaceId === change.id)
      case 'organization':
        return this.#forgetWhere((record) => record.organizationId === change.id)
      case 'everything':
        this.#known.clear()
        this.#unknown.clear()
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

  /** A walk over all that is known: a workspace changes too rarely to pay for an index of its keys. */
  #forgetWhere(isTouched: (record: KeyRecord) => boolean): void {
    const touched = [...this.#known.entries()].filter(([, { record }]) => isTouched(record))
    for (const [hash] of touched) this.#known.delete(hash)
  }
}
