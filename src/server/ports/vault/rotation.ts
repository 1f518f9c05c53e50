import type { Outcome } from '../../../schemas/failures.ts'
import type { StoredSecret, WrappedVaultKey } from './secret-rows.ts'
import type { ChangedBy } from './vault.ts'

/** Tables of wrapped keys: those of vaults, and those of workspaces. */
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

/** Wrapped keys, for a change of the root key. Failures of all: store_unavailable. */
export interface RootRotationRows {
  /** Keys that another root key than this one wraps, by id, after `afterId`. */
  page(
    table: WrappedKeyTable,
    page: { readonly rootKeyId: string; readonly afterId: string | null; readonly limit: number },
  ): Promise<Outcome<readonly WrappedKey[]>>
  /**
   * Writes the keys in one transaction with its audit events, one for each organization.
   * @returns number of changed keys: keys that were unchanged since they were read, and that no other
   * transaction is changing
   */
  rewrap(table: WrappedKeyTable, keys: readonly RewrappedKey[], by: ChangedBy): Promise<Outcome<number>>
}

/** The vaults to rotate: one vault, those of a workspace, or with neither all. */
export interface RotationScope {
  readonly workspaceId: string | null
  readonly vaultId: string | null
}

/** A secret whose sealing key is replaced. */
export interface ResealedSecret {
  readonly from: Pick<StoredSecret, 'vaultId' | 'name' | 'version'> & { readonly keyId: string }
  readonly keyId: string
  readonly sealed: Uint8Array
}

/**
 * Sealing keys of vaults and the secrets that they seal, for the replacement of the keys. Failures of all:
 * store_unavailable.
 */
export interface DataRotationRows {
  /** The instant by the store's own clock, to the microsecond. */
  now(): Promise<Outcome<string>>
  /**
   * Current sealing keys of vaults, by vault, after `afterVaultId`. Vaults that never had a secret have none.
   */
  vaults(
    scope: RotationScope,
    page: { readonly afterVaultId: string | null; readonly limit: number },
  ): Promise<Outcome<readonly WrappedVaultKey[]>>
  /** The current sealing keys of these vaults. */
  sealingKeys(vaultIds: readonly string[]): Promise<Outcome<readonly WrappedVaultKey[]>>
  /**
   * Makes these keys the current ones of their vaults, in one transaction with its audit events. A vault
   * whose key was made at `madeBefore` or later keeps it: another process has rotated the vault meanwhile.
   * @returns number of vaults with a new key
   */
  replace(keys: readonly WrappedVaultKey[], madeBefore: string, by: ChangedBy): Promise<Outcome<number>>
  /**
   * Secrets of these vaults whose key is not current, by vault and name, after `after`; bounded in bytes too.
   */
  onOldKeys(
    vaultIds: readonly string[],
    page: { readonly after: Pick<StoredSecret, 'vaultId' | 'name'> | null; readonly limit: number },
  ): Promise<Outcome<readonly StoredSecret[]>>
  /**
   * Versions, hosts, fingerprints and times stay. @returns number of changed secrets: those with the version
   * and the key that they were read with, whose new key is still current
   */
  reseal(secrets: readonly ResealedSecret[]): Promise<Outcome<number>>
  /**
   * Removes keys that are not current and that no secret names, in one transaction with its audit events.
   * @returns number of keys
   */
  removeOld(vaultIds: readonly string[], by: ChangedBy): Promise<Outcome<number>>
}

/** The number of keys that a root key wraps. */
export interface RootKeyUse {
  readonly rootKeyId: string
  readonly vaultKeys: number
  readonly dataKeys: number
}
