import { LRUCache } from 'lru-cache'
import { ok, type Outcome } from '../../schemas/failures.ts'
import {
  KEYS_CACHED_MAX,
  UNKNOWN_KEYS_CACHED_MAX,
  UNKNOWN_KEY_TTL_MS,
} from '../../schemas/keys/key-limits.ts'
import type { KeyRecord } from '../ports/keys/keys.ts'

/** A cached record with the outcome of a hit, which is created once. */
export interface KnownKey {
  readonly record: KeyRecord
  readonly outcome: Outcome<KeyRecord>
}

const KEY_PREFIX = 'key/'

export function nameOfKey(hash: string): string {
  return KEY_PREFIX + hash
}

/** The names of all on which a record depends: its key, its workspaces and its organization. */
export function namesOf(record: KeyRecord): readonly string[] {
  return [nameOfKey(record.hash), ...ownersOf(record)]
}

/** The keys that this front caches, and the keys that it remembers as unknown. Both caches are bounded. */
export class KnownKeys {
  readonly #known: LRUCache<string, KnownKey>
  /** Hash → end of its being remembered, on the clock of `now`. */
  readonly #unknown = new LRUCache<string, number>({ max: UNKNOWN_KEYS_CACHED_MAX })
  /**
   * Hashes by workspace and by organization: an organization that changes in a loop must not make this front
   * search all keys.
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

  /** The most recently used first. */
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
    // The earlier record of the key leaves the lists first: the key may have had other owners.
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

  /** Forgets all entries that depend on the name. */
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
