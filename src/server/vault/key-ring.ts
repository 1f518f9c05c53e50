import { LRUCache } from 'lru-cache'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import type { DataKey, DataKeyPurpose, DataKeys, KeyRing, WrappedDataKey } from '../ports/vault/key-ring.ts'
import type { RootKeys } from './root-keys.ts'
import { KEY_BYTES, newWrappedKey, unwrapKey } from './wrap.ts'

/** Unwrapped data keys that one process holds. Decision. */
export const DATA_KEYS_CACHED_MAX = 1_000

/**
 * Milliseconds until another process's change of the current key is seen; until then the previous key seals, and it
 * still opens its values. Decision.
 */
const CURRENT_KEPT_MS = 60_000

export interface KeyRingOptions {
  readonly rootKeys: RootKeys
  readonly rows: DataKeys
  readonly cachedMax?: number
}

/**
 * Data keys of workspaces, unwrapped only in this ring. A bounded number is kept; a key is cleared when it
 * is dropped. Design §8.
 */
export function openKeyRing(options: KeyRingOptions): KeyRing {
  return new Ring(options)
}

class Ring implements KeyRing {
  readonly #rootKeys: RootKeys
  readonly #rows: DataKeys
  readonly #keys: LRUCache<string, Buffer>
  /** Ids of the current keys by workspace and purpose. */
  readonly #current: LRUCache<string, string>
  readonly #loads = new Map<string, Promise<Outcome<WrappedDataKey>>>()

  constructor({ rootKeys, rows, cachedMax = DATA_KEYS_CACHED_MAX }: KeyRingOptions) {
    this.#rootKeys = rootKeys
    this.#rows = rows
    this.#keys = new LRUCache({ max: cachedMax, dispose: (key) => void key.fill(0) })
    this.#current = new LRUCache({ max: cachedMax, ttl: CURRENT_KEPT_MS })
  }

  async current(workspaceId: string, purpose: DataKeyPurpose): Promise<Outcome<DataKey>> {
    const name = `${workspaceId}/${purpose}`
    const id = this.#current.get(name)
    const known = id === undefined ? null : this.#copy(`${name}/${id}`, id)
    if (known !== null) return ok(known)
    const row = await this.#once(name, () => this.#findOrMake(workspaceId, purpose))
    if (!row.ok) return row
    this.#current.set(name, row.value.id)
    return this.#unwrap(row.value)
  }

  async byId(workspaceId: string, purpose: DataKeyPurpose, id: string): Promise<Outcome<DataKey>> {
    const name = `${workspaceId}/${purpose}/${id}`
    const known = this.#copy(name, id)
    if (known !== null) return ok(known)
    const row = await this.#once(name, async () => {
      const found = await this.#rows.byId(workspaceId, purpose, id)
      if (!found.ok) return found
      return found.value === null ? unavailable(`there is no data key ${id}`) : ok(found.value)
    })
    return row.ok ? this.#unwrap(row.value) : row
  }

  async #findOrMake(workspaceId: string, purpose: DataKeyPurpose): Promise<Outcome<WrappedDataKey>> {
    const found = await this.#rows.current(workspaceId, purpose)
    if (!found.ok) return found
    if (found.value !== null) return ok(found.value)
    const made = newWrappedKey(this.#rootKeys, workspaceId, purpose)
    if (made === null) return unavailable('there is no root key')
    // Another process may have added a key first: every process then uses that key.
    return this.#rows.addFirst({ ...made, workspaceId })
  }

  #unwrap(row: WrappedDataKey): Outcome<DataKey> {
    const name = `${row.workspaceId}/${row.purpose}/${row.id}`
    const rootKey = this.#rootKeys.get(row.rootKeyId)
    if (rootKey === undefined)
      return unavailable(`data key ${row.id} is encrypted with root key ${row.rootKeyId}, which is missing`)
    const key = unwrapKey(rootKey, row.wrapped, { ...row, ownerId: row.workspaceId })
    if (key === null) return unavailable(`data key ${row.id} cannot be decrypted`)
    const copy = copyOf(row.id, key)
    this.#keys.set(name, key)
    return ok(copy)
  }

  #copy(name: string, id: string): DataKey | null {
    const key = this.#keys.get(name)
    return key === undefined ? null : copyOf(id, key)
  }

  /** Concurrent requests for the same key share one look at the store. */
  #once(name: string, load: () => Promise<Outcome<WrappedDataKey>>): Promise<Outcome<WrappedDataKey>> {
    const running = this.#loads.get(name)
    if (running !== undefined) return running
    const loading = load().finally(() => this.#loads.delete(name))
    this.#loads.set(name, loading)
    return loading
  }
}

function copyOf(id: string, key: Buffer): DataKey {
  const copy = new Uint8Array(KEY_BYTES)
  copy.set(key)
  return { id, key: copy }
}

function unavailable(why: string): Outcome<never> {
  return fail('data_key_unavailable', { cause: new Error(why) })
}
