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

/** Facts that a value is bound to, in addition to its vault. */
export interface SecretFacts {
  readonly name: string
  /** Hosts as they stand in the row. */
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
  /** Null: the row names no key of its vault. */
  readonly key: WrappedVaultKey | null
}

export interface EffectiveRow extends StoredSecret {
  readonly source: SecretSource
}

export interface VaultForWriting extends VaultPlace {
  /** Null where none was made yet. */
  readonly fingerprintKey: WrappedVaultKey | null
  /** Null where none was made yet. */
  readonly sealingKey: WrappedVaultKey | null
  /** Versions drawn for this write. */
  readonly versions: readonly string[]
}

export interface SecretWrite {
  readonly scope: VaultScope
  readonly vaultId: string
  /** The sealing key of all of the secrets. */
  readonly keyId: string
  /** With distinct names. */
  readonly secrets: readonly WrittenSecret[]
  /** The rows that the secrets were copied from; null = they are not copies. */
  readonly copyOf: readonly Pick<StoredSecret, 'vaultId' | 'name' | 'version'>[] | null
}

/** Failures of all: store_unavailable, intern_unknown. */
export interface SecretRows {
  /** Whether the vault exists and callers may see it. */
  see(scope: VaultScope): Promise<Outcome<null>>
  list(scope: VaultScope, page: SecretPageInput): Promise<Outcome<SecretPage>>
  /** The secrets of these names that the vault has, in any order. */
  among(scope: VaultScope, names: readonly string[]): Promise<Outcome<readonly SecretMetadata[]>>
  /** Failure: vault_unknown (the attached vault is gone). */
  effective(scope: VaultScope, page: SecretPageInput): Promise<Outcome<SecretPage<EffectiveSecret>>>
  /** The vault, made when the workspace has none yet, and so many new versions. */
  forWriting(scope: VaultScope, versions: number): Promise<Outcome<VaultForWriting>>
  /** @returns the current keys, the same for all processes that race. Failure: vault_unknown (removed meanwhile). */
  addKeys(vaultId: string, keys: readonly WrappedVaultKey[]): Promise<Outcome<readonly WrappedVaultKey[]>>
  /**
   * All or none, in one audited transaction. Null: the keys or a source of the copy changed, so the secrets
   * must be sealed again. Failures: vault_full, intern_in_transfer, secret_exists, secret_unknown (against
   * `expects`).
   */
  write(write: SecretWrite): Promise<Outcome<readonly SecretMetadata[] | null>>
  /** Failure: secret_unknown. */
  remove(scope: VaultScope, name: string, by: VaultActor): Promise<Outcome<null>>
  /** The workspace's own secrets of these names, in their order. Failure: secret_unknown. */
  sources(scope: VaultScope, names: readonly string[]): Promise<Outcome<readonly StoredSecret[]>>
  /** The effective secret; null if absent, or if unknown because the attached vault is gone. */
  find(scope: VaultScope, name: string): Promise<Outcome<EffectiveRow | null>>
}

export interface SecretBinding {
  readonly name: string
  readonly hosts: readonly string[]
}

/** Needed before a call needs the secret. Failure: store_unavailable. */
export interface SecretBindings {
  /** The vault's secrets among these names; legacy rows are left out, as they are never released. */
  among(workspaceId: string, names: readonly string[]): Promise<Outcome<readonly SecretBinding[]>>
}
