import { LRUCache } from 'lru-cache'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import type {
  SecretRows,
  VaultForWriting,
  VaultKeyPurpose,
  WrappedVaultKey,
} from '../ports/vault/secret-rows.ts'
import type { RootKeys } from './root-keys.ts'
import { newWrappedKey, unwrapKey } from './wrap.ts'

/** Unwrapped keys of vaults that one front caches. Decision. */
export const VAULT_KEYS_CACHED_MAX = 4_096

const PURPOSES: readonly VaultKeyPurpose[] = ['fingerprint', 'sealing']

/** The keys that fingerprint and seal a vault's values. Both are copies: the caller clears or transfers them. */
export interface CurrentKeys {
  readonly fingerprint: Uint8Array<ArrayBuffer>
  readonly sealing: Uint8Array<ArrayBuffer>
  readonly sealingKeyId: string
}

export interface VaultKeysOptions {
  readonly rootKeys: Pick<RootKeys, 'currentId' | 'get'>
  readonly rows: Pick<SecretRows, 'addKeys'>
  readonly cachedMax?: number
}

/** Keys of vaults, unwrapped. A bounded number is kept; a key is cleared when it is dropped. Design §8. */
export class VaultKeys {
  readonly #options: VaultKeysOptions
  /** Unwrapped keys by all columns of their row: an edited row must be unwrapped again. */
  readonly #open: LRUCache<string, Buffer>

  constructor(options: VaultKeysOptions) {
    this.#options = options
    this.#open = new LRUCache({
      max: options.cachedMax ?? VAULT_KEYS_CACHED_MAX,
      dispose: (key) => void key.fill(0),
    })
  }

  /**
   * The current keys of a vault, made when the vault has none. Failures: data_key_unavailable, vault_unknown
   * (removed meanwhile), store_unavailable.
   */
  async current(vault: VaultForWriting): Promise<Outcome<CurrentKeys>> {
    const { vaultId } = vault
    const known = [vault.fingerprintKey, vault.sealingKey].filter((key) => key !== null)
    const rows = known.length === PURPOSES.length ? ok(known) : await this.#make(vaultId)
    if (!rows.ok) return rows
    const [fingerprint, sealing] = PURPOSES.map((purpose) =>
      rows.value.find((row) => row.purpose === purpose),
    )
    if (fingerprint === undefined || sealing === undefined) return unavailable(`vault ${vaultId} lacks a key`)
    const one = this.open(fingerprint)
    if (!one.ok) return one
    const other = this.open(sealing)
    if (!other.ok) {
      one.value.fill(0)
      return other
    }
    return ok({ fingerprint: one.value, sealing: other.value, sealingKeyId: sealing.id })
  }

  /**
   * @returns a copy in a buffer of its own. Failure: data_key_unavailable (the root key is not present, or
   * the key does not open).
   */
  open(row: WrappedVaultKey): Outcome<Uint8Array<ArrayBuffer>> {
    const name = [
      row.vaultId,
      row.purpose,
      row.id,
      row.rootKeyId,
      Buffer.from(row.wrapped).toString('base64'),
    ].join('/')
    const known = this.#open.get(name)
    if (known !== undefined) return ok(new Uint8Array(known))
    const rootKey = this.#options.rootKeys.get(row.rootKeyId)
    if (rootKey === undefined)
      return unavailable(
        `key ${row.id} of vault ${row.vaultId} is encrypted with root key ${row.rootKeyId}, which is missing`,
      )
    const key = unwrapKey(rootKey, row.wrapped, { ...row, ownerId: row.vaultId })
    if (key === null) return unavailable(`key ${row.id} of vault ${row.vaultId} cannot be decrypted`)
    const copy = new Uint8Array(key)
    this.#open.set(name, key)
    return ok(copy)
  }

  close(): void {
    this.#open.clear()
  }

  async #make(vaultId: string): Promise<Outcome<readonly WrappedVaultKey[]>> {
    const { rootKeys, rows } = this.#options
    const made = PURPOSES.map((purpose) => newWrappedKey(rootKeys, vaultId, purpose)).filter(
      (key) => key !== null,
    )
    if (made.length < PURPOSES.length) return unavailable('there is no root key')
    // Another process may have added keys first: every process then uses those keys.
    return rows.addKeys(
      vaultId,
      made.map((key) => ({ ...key, vaultId })),
    )
  }
}

function unavailable(why: string): Outcome<never> {
  return fail('data_key_unavailable', { cause: new Error(why) })
}
