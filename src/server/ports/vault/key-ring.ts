import type { Outcome } from '../../../schemas/failures.ts'
import type { StoredSecret, WrappedVaultKey } from './secret-rows.ts'
import type { ChangedBy } from './vault.ts'

/** For the objects of files, or for the signing secrets of webhooks; vaults have their own keys. */
export type DataKeyPurpose = 'files' | 'webhooks'

/** The key's bytes are a copy: the caller clears them after use (`key.fill(0)`). */
export interface DataKey {
  /** Lower-case UUID. */
  readonly id: string
  /** 32 bytes in an ArrayBuffer of their own, so that it can be transferred. */
  readonly key: Uint8Array<ArrayBuffer>
}

/** Data keys, wrapped by the root keys. Failures of both: data_key_unavailable (no root key, or the row cannot be decrypted), store_unavailable. */
export interface KeyRing {
  /** The key that encrypts new objects; created at the first call. */
  current(workspaceId: string, purpose: DataKeyPurpose): Promise<Outcome<DataKey>>
  byId(workspaceId: string, purpose: DataKeyPurpose, id: string): Promise<Outcome<DataKey>>
}

export interface WrappedDataKey {
  readonly id: string
  readonly workspaceId: string
  readonly purpose: DataKeyPurpose
  readonly rootKeyId: string
  readonly wrapped: Uint8Array
}

/** Failures of all: store_unavailable. */
export interface DataKeys {
  current(workspaceId: string, purpose: DataKeyPurpose): Promise<Outcome<WrappedDataKey | null>>
  byId(workspaceId: string, purpose: DataKeyPurpose, id: string): Promise<Outcome<WrappedDataKey | null>>
  /** @returns the row that is current now: all concurrent processes get the same row */
  addFirst(row: WrappedDataKey): Promise<Outcome<WrappedDataKey>>
}

export type WrappedKeyTable = 'vault_keys' | 'data_keys'

export interface WrappedKey {
  readonly id: string
  /** The vault or the workspace. */
  readonly ownerId: string
  readonly purpose: string
  readonly rootKeyId: string
  readonly wrapped: Uint8Array
}

export interface RewrappedKey {
  readonly from: WrappedKey
  readonly rootKeyId: string
  readonly wrapped: Uint8Array
}

/** Failures of all: store_unavailable. */
export interface RootRotationRows {
  /** Keys wrapped by any root key other than this one, ordered by id, after `afterId`. */
  page(
    table: WrappedKeyTable,
    page: { readonly rootKeyId: string; readonly afterId: string | null; readonly limit: number },
  ): Promise<Outcome<readonly WrappedKey[]>>
  /**
   * One transaction with an audit event per organization. @returns number of keys, without keys that were
   * changed meanwhile or are being changed by another transaction
   */
  rewrap(table: WrappedKeyTable, keys: readonly RewrappedKey[], by: ChangedBy): Promise<Outcome<number>>
}

/** One vault, or the vaults of a workspace; with neither, all vaults. */
export interface RotationScope {
  readonly workspaceId: string | null
  readonly vaultId: string | null
}

export interface ResealedSecret {
  readonly from: Pick<StoredSecret, 'vaultId' | 'name' | 'version'> & { readonly keyId: string }
  readonly keyId: string
  readonly sealed: Uint8Array
}

/** Failures of all: store_unavailable. */
export interface DataRotationRows {
  /** The time by the store's own clock, to the microsecond. */
  now(): Promise<Outcome<string>>
  /** The keys of vaults, ordered by vault, after `afterVaultId`; vaults that never had a secret have no key. */
  vaults(
    scope: RotationScope,
    page: { readonly afterVaultId: string | null; readonly limit: number },
  ): Promise<Outcome<readonly WrappedVaultKey[]>>
  sealingKeys(vaultIds: readonly string[]): Promise<Outcome<readonly WrappedVaultKey[]>>
  /**
   * In one audited transaction. A key created at `madeBefore` or later is kept: another process has rotated
   * it. @returns number of vaults with a new key
   */
  replace(keys: readonly WrappedVaultKey[], madeBefore: string, by: ChangedBy): Promise<Outcome<number>>
  /** Secrets whose key is not current, ordered by vault and name, after `after`; the page is also bounded in bytes. */
  onOldKeys(
    vaultIds: readonly string[],
    page: { readonly after: Pick<StoredSecret, 'vaultId' | 'name'> | null; readonly limit: number },
  ): Promise<Outcome<readonly StoredSecret[]>>
  /** Replaces only secrets that still have the version and key with which they were read, and whose new key is current. @returns their number */
  reseal(secrets: readonly ResealedSecret[]): Promise<Outcome<number>>
  /** Removes keys that are not current and that no secret uses, in one audited transaction. @returns number of keys */
  removeOld(vaultIds: readonly string[], by: ChangedBy): Promise<Outcome<number>>
}

/** The number of keys that a root key wraps. */
export interface RootKeyUse {
  readonly rootKeyId: string
  readonly vaultKeys: number
  readonly dataKeys: number
}
