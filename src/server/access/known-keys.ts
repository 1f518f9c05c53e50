import { LRUCache } from 'lru-cache'
import { ok, type Outcome } from '../../schemas/failures.ts'
import {
  KEYS_CACHED_MAX,
  UNKNOWN_KEYS_CACHED_MAX,
  UNKNOWN_KEY_TTL_MS,
} from '../../schemas/keys/key-limits.ts'
import type { KeyRecord } from '../ports/keys/keys.ts'

/** A cached record with the outcome that a hit returns, made once. */
export interface KnownKey {
  readonly record: KeyRecord
  readonly outcome: Outcome<KeyRecord>
}

const KEY_PREFIX = 'key/'

export function nameOfKey(hash: string): string {
  return KEY_PREFIX + hash
}

/** What a record depends on: its key, its workspaces and its organization. */
export function namesOf(record: KeyRecord): readonly string[] {
  return [nameOfKey(record.hash), ...ownersOf(record)]
}

/** What this front remembers of keys: those it knows, and those it knows to be unknown. Both are bounded. */
export class KnownKeys {
  readonly #known: LRUCache<string, KnownKey>
  /** Hash → instant until which it is remembered, on the clock of `now`. */
  readonly #unknown = new LRUCache<string, number>({ max: UNKNOWN_KEYS_CACHED_MAX })
  /**
   * Hashes by workspace and by organization: whoever changes one in a loop must not make this front look
   * through all keys.
   */
  readonly #byOwner = new Map<string, Set<string>>()
  readonly #now: () => number

  constructor(now: () => number, max = KEYS_CACHED_MAX) {
    this.#now = now
    this.#known = new LRUCache({ max, dispose: (known) => this.#unlist(known.record) })
  }

  find(hash: string): KnownKey | undefined {
    return this.#known.get(hash)
  }

  /** The one used last first. */
  list(max: number): readonly string[] {
    const hashes: string[] = []
    for (const hash of this.#known.keys()) {
      if (hashes.push(hash) === max) break
    }
    return hashes
  }

  isUnknown(hash: string): boolean {
    const until = this.#unknown.get(hash)
    return until !== undefined && this.#now() < until
  }

  keep(record: KeyRecord): KnownKey {
    const known: KnownKey = { record: Object.freeze(record), outcome: ok(record) }
    // An earlier record of it is taken off the lists first: it may have had other owners.
    this.#known.delete(record.hash)
    this.#unknown.delete(record.hash)
    this.#known.set(record.hash, known)
    for (const owner of ownersOf(record)) {
      const hashes = this.#byOwner.get(owner) ?? new Set()
      this.#byOwner.set(owner, hashes.add(record.hash))
    }
    return known
  }

  keepUnknown(hash: string): void {
    this.#known.delete(hash)
    this.#unknown.set(hash, this.#now() + UNKNOWN_KEY_TTL_MS)
  }

  /** Forgets all that depends on the name. */
  forget(name: string): void {
    if (!name.startsWith(KEY_PREFIX)) {
      for (const hash of this.#byOwner.get(name) ?? []) this.#known.delete(hash)
      return
    }
    const hash = name.slice(KEY_PREFIX.length)
    this.#known.delete(hash)
    this.#unknown.delete(hash)
  }

  clear(): void {
    this.#known.clear()
    this.#unknown.clear()
  }

  #unlist(record: KeyRecord): void {
    for (const owner of ownersOf(record)) {
      const hashes = this.#byOwner.get(owner)
      hashes?.delete(record.hash)
      if (hashes?.size === 0) this.#byOwner.delete(owner)
    }
  }
}

function ownersOf({ workspaceId, defaultWorkspaceId, organizationId }: KeyRecord): readonly string[] {
  const owners = [`workspace/${defaultWorkspaceId}`, `organization/${organizationId}`]
  return workspaceId === null || workspaceId === defaultWorkspaceId
    ? owners
    : [...owners, `workspace/${workspaceId}`]
}
