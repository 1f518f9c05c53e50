import type { Outcome } from '../../../schemas/failures.ts'
import type {
  EffectiveSecret,
  NewSecret,
  SecretMetadata,
  SecretPage,
  SecretPageInput,
  SecretSource,
  VaultActor,
  VaultScope,
} from './vault.ts'

export interface VaultPlace {
  readonly vaultId: string
  readonly workspaceId: string
}

/** The fingerprint key lives as long as its vault; a rotation replaces the sealing key. */
export type VaultKeyPurpose = 'fingerprint' | 'sealing'

export interface WrappedVaultKey {
  readonly id: string
  readonly vaultId: string
  readonly purpose: VaultKeyPurpose
  readonly rootKeyId: string
  readonly wrapped: Uint8Array
}

/** Facts to which a value is cryptographically bound, in addition to its vault. */
export interface SecretFacts {
  readonly name: string
  /** Hosts exactly as they are in the row. */
  readonly hosts: readonly string[]
  /** Decimal digits; a version never repeats. */
  readonly version: string
}

export interface SealedSecret extends SecretFacts {
  readonly fingerprint: string
  readonly sealed: Uint8Array
}

export interface WrittenSecret extends SealedSecret {
  readonly by: VaultActor
  readonly expects?: NonNullable<NewSecret['expects']>
}

export interface StoredSecret extends Omit<SecretFacts, 'hosts'>, VaultPlace {
  /** Null: a legacy row. */
  readonly hosts: readonly string[] | null
  readonly sealed: Uint8Array
  /** Null: the row does not name a key of its vault. */
  readonly key: WrappedVaultKey | null
}

export interface EffectiveRow extends StoredSecret {
  readonly source: SecretSource
}

export interface VaultForWriting extends VaultPlace {
  /** Null: none was created yet. */
  readonly fingerprintKey: WrappedVaultKey | null
  /** Null: none was created yet. */
  readonly sealingKey: WrappedVaultKey | null
  /** New version numbers for this write. */
  readonly versions: readonly string[]
}

export interface SecretWrite {
  readonly scope: VaultScope
  readonly vaultId: string
  /** Id of the key with which all these secrets are encrypted. */
  readonly keyId: string
  /** With distinct names. */
  readonly secrets: readonly WrittenSecret[]
  /** The rows from which the secrets were copied; null = they are not copies. */
  readonly copyOf: readonly Pick<StoredSecret, 'vaultId' | 'name' | 'version'>[] | null
}

/** Failures of all: store_unavailable, intern_unknown. */
export interface SecretRows {
  /** Succeeds when the vault exists and callers may see it. */
  see(scope: VaultScope): Promise<Outcome<null>>
  list(scope: VaultScope, page: SecretPageInput): Promise<Outcome<SecretPage>>
  /** The vault's secrets with these names, in any order. */
  among(scope: VaultScope, names: readonly string[]): Promise<Outcome<readonly SecretMetadata[]>>
  /** Failure: vault_unknown (the attached vault no longer exists). */
  effective(scope: VaultScope, page: SecretPageInput): Promise<Outcome<SecretPage<EffectiveSecret>>>
  /** The vault, which is created if the workspace has none yet, and `versions` new version numbers. */
  forWriting(scope: VaultScope, versions: number): Promise<Outcome<VaultForWriting>>
  /** @returns the current keys, the same for all concurrent processes. Failure: vault_unknown (removed meanwhile). */
  addKeys(vaultId: string, keys: readonly WrappedVaultKey[]): Promise<Outcome<readonly WrappedVaultKey[]>>
  /**
   * All or none, in one audited transaction. Null: the keys or a source of the copy changed, so the secrets
   * must be encrypted again. Failures: vault_full, intern_in_transfer, secret_exists, secret_unknown (against
   * `expects`).
   */
  write(write: SecretWrite): Promise<Outcome<readonly SecretMetadata[] | null>>
  /** Failure: secret_unknown. */
  remove(scope: VaultScope, name: string, by: VaultActor): Promise<Outcome<null>>
  /** The workspace's own secrets with these names, in their order. Failure: secret_unknown. */
  sources(scope: VaultScope, names: readonly string[]): Promise<Outcome<readonly StoredSecret[]>>
  /** The effective secret; null if absent, or if unknown because the attached vault no longer exists. */
  find(scope: VaultScope, name: string): Promise<Outcome<EffectiveRow | null>>
}

export interface SecretBinding {
  readonly name: string
  readonly hosts: readonly string[]
}

/** The hosts of secrets, which are read before a secret itself is needed. Failure: store_unavailable. */
export interface SecretBindings {
  /** The vault's secrets among these names; legacy rows are left out, as they are never released. */
  among(workspaceId: string, names: readonly string[]): Promise<Outcome<readonly SecretBinding[]>>
}
