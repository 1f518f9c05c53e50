import type { Outcome } from '../../../schemas/failures.ts'
import type { StoredSecret, WrappedVaultKey } from './secret-rows.ts'
import type { ChangedBy } from './vault.ts'

/** Objects of files, or signing secrets of webhooks; vaults have keys of their own. */
export type DataKeyPurpose = 'files' | 'webhooks'

/** The bytes are a copy: the caller clears them after use (`key.fill(0)`). */
export interface DataKey {
  /** Lower-case UUID. */
  readonly id: string
  /** 32 bytes in an ArrayBuffer of their own, so that it can be transferred. */
  readonly key: Uint8Array<ArrayBuffer>
}

/** Wrapped by the root keys. Failures of both: data_key_unavailable (no root key, or the row does not open), store_unavailable. */
export interface KeyRing {
  /** Seals new objects; made at the first call. */
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
  /** @returns the row that is current now: of many processes that race, all get the same row */
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
  /** Keys that another root key than this one wraps, by id, after `afterId`. */
  page(
    table: WrappedKeyTable,
    page: { readonly rootKeyId: string; readonly afterId: string | null; readonly limit: number },
  ): Promise<Outcome<readonly WrappedKey[]>>
  /** One transaction with an audit event per organization. @returns number of keys, without those changed meanwhile or by another transaction now */
  rewrap(table: WrappedKeyTable, keys: readonly RewrappedKey[], by: ChangedBy): Promise<Outcome<number>>
}

/** One vault, those of a workspace, or with neither all. */
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
  /** The instant by the store's own clock, to the microsecond. */
  now(): Promise<Outcome<string>>
  /** By vault, after `afterVaultId`; vaults that never had a secret have no key. */
  vaults(
    scope: RotationScope,
    page: { readonly afterVaultId: string | null; readonly limit: number },
  ): Promise<Outcome<readonly WrappedVaultKey[]>>
  sealingKeys(vaultIds: readonly string[]): Promise<Outcome<readonly WrappedVaultKey[]>>
  /** In one audited transaction. A key made at `madeBefore` or later stays: another process rotated it. @returns number of vaults with a new key */
  replace(keys: readonly WrappedVaultKey[], madeBefore: string, by: ChangedBy): Promise<Outcome<number>>
  /** Whose key is not current, by vault and name, after `after`; bounded in bytes too. */
  onOldKeys(
    vaultIds: readonly string[],
    page: { readonly after: Pick<StoredSecret, 'vaultId' | 'name'> | null; readonly limit: number },
  ): Promise<Outcome<readonly StoredSecret[]>>
  /** Replaces nothing else. @returns number of secrets that still have the version and key they were read with, and whose new key is current */
  reseal(secrets: readonly ResealedSecret[]): Promise<Outcome<number>>
  /** Keys that are not current and that no secret names, in one audited transaction. @returns number of keys */
  removeOld(vaultIds: readonly string[], by: ChangedBy): Promise<Outcome<number>>
}

/** The number of keys that a root key wraps. */
export interface RootKeyUse {
  readonly rootKeyId: string
  readonly vaultKeys: number
  readonly dataKeys: number
}
