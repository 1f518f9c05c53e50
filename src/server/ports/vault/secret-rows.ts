import type { Outcome } from '../../../schemas/failures.ts'
import type {
  ChangedBy,
  EffectiveSecret,
  SecretMetadata,
  SecretPage,
  SecretPageInput,
  SecretSource,
  VaultScope,
} from './vault.ts'

/** Which vault something is sealed for. */
export interface VaultPlace {
  readonly vaultId: string
  readonly workspaceId: string
}

/** The fingerprint key lives as long as its vault; the sealing key is replaced by a rotation. Design §8. */
export type VaultKeyPurpose = 'fingerprint' | 'sealing'

export interface WrappedVaultKey {
  readonly id: string
  readonly vaultId: string
  readonly purpose: VaultKeyPurpose
  readonly rootKeyId: string
  readonly wrapped: Uint8Array
}

/** What a value is bound to beside its vault. */
export interface SecretFacts {
  readonly name: string
  /** As they stand in the row. */
  readonly hosts: readonly string[]
  /** Decimal digits; it never repeats. */
  readonly version: string
}

export interface SealedSecret extends SecretFacts {
  readonly fingerprint: string
  readonly sealed: Uint8Array
}

/** To be stored, and on whose behalf. */
export interface WrittenSecret extends SealedSecret {
  readonly by: ChangedBy
}

/** A row to be opened. */
export interface StoredSecret extends Omit<SecretFacts, 'hosts'>, VaultPlace {
  /** Null: a legacy row. */
  readonly hosts: readonly string[] | null
  readonly sealed: Uint8Array
  /** Null: the row names none of its vault. */
  readonly key: WrappedVaultKey | null
}

export interface EffectiveRow extends StoredSecret {
  readonly source: SecretSource
}

export interface VaultForWriting extends VaultPlace {
  /** The current ones; null where none was made yet. */
  readonly fingerprintKey: WrappedVaultKey | null
  readonly sealingKey: WrappedVaultKey | null
  /** Drawn for this write. */
  readonly versions: readonly string[]
}

export interface SecretWrite {
  readonly scope: VaultScope
  readonly vaultId: string
  /** Of the sealing key that all of them are sealed with. */
  readonly keyId: string
  /** Each of another name. */
  readonly secrets: readonly WrittenSecret[]
  /** The rows that they were copied from; null = they are not copies. */
  readonly copyOf: readonly Pick<StoredSecret, 'vaultId' | 'name' | 'version'>[] | null
}

/**
 * Rows of vaults, of their wrapped keys and of sealed secrets. Failures of all: store_unavailable,
 * intern_unknown.
 */
export interface SecretRows {
  /** Whether there is such a vault for its callers to see. */
  see(scope: VaultScope): Promise<Outcome<null>>
  list(scope: VaultScope, page: SecretPageInput): Promise<Outcome<SecretPage>>
  /** Failure: vault_unknown (the attached vault is gone). */
  effective(scope: VaultScope, page: SecretPageInput): Promise<Outcome<SecretPage<EffectiveSecret>>>
  /** The vault, made when the workspace has none yet, and so many new versions. */
  forWriting(scope: VaultScope, versions: number): Promise<Outcome<VaultForWriting>>
  /**
   * @returns the current keys: of many that race, all get the same. Failure: vault_unknown (removed
   * meanwhile).
   */
  addKeys(vaultId: string, keys: readonly WrappedVaultKey[]): Promise<Outcome<readonly WrappedVaultKey[]>>
  /**
   * Stores all or none, in one transaction with their audit events. Null: the keys of the vault or a source
   * of the copy changed since, so they must be sealed again.
   * Failures: vault_full, intern_in_transfer.
   */
  write(write: SecretWrite): Promise<Outcome<readonly SecretMetadata[] | null>>
  /** Failure: secret_unknown. */
  remove(scope: VaultScope, name: string, by: ChangedBy): Promise<Outcome<null>>
  /** The workspace's own secrets of these names, in their order. Failure: secret_unknown. */
  sources(scope: VaultScope, names: readonly string[]): Promise<Outcome<readonly StoredSecret[]>>
  /**
   * The effective secret; null where there is none, or where it cannot be told because the attached vault is
   * gone.
   */
  find(scope: VaultScope, name: string): Promise<Outcome<EffectiveRow | null>>
}

/** A secret by what may be seen of it. */
export interface SecretBinding {
  readonly name: string
  readonly hosts: readonly string[]
}

/** What of a workspace's own vault is worth knowing before a call needs it. Failure: store_unavailable. */
export interface SecretBindings {
  /** Those of these names that it has; legacy rows are left out, as they are never released. */
  among(workspaceId: string, names: readonly string[]): Promise<Outcome<readonly SecretBinding[]>>
}
