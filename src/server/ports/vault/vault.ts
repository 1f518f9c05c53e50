import type { Outcome } from '../../../schemas/failures.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import type { AuditActor } from '../audit/audit.ts'

/** One vault: the workspace's own, that of an intern in it, or an attachable one. */
export interface VaultScope {
  readonly organizationId: string
  readonly workspaceId: string
  /** Null = the workspace's own vault. */
  readonly internId: string | null
  /** Id of an attachable vault, only for the command line; `internId` is then null. */
  readonly attachableId?: string
}

/** The only data about a secret that replies contain. */
export interface SecretMetadata {
  readonly name: string
  /** Normalized, sorted; null only for secrets stored by early versions, which are never released. */
  readonly hosts: readonly string[] | null
  /** `sha256:<hex>` of an HMAC under the vault's own key; null only for legacy rows. */
  readonly fingerprint: string | null
  /** Time when it was first stored; a replacement keeps it. */
  readonly createdAt: Date
}

/** For several secrets with one name, the first source in this order counts. */
export type SecretSource = 'intern' | 'attached' | 'workspace'

export interface EffectiveSecret extends SecretMetadata {
  readonly scope: SecretSource
}

export interface SecretPage<S extends SecretMetadata = SecretMetadata> {
  /** Sorted by name. */
  readonly secrets: readonly S[]
  readonly hasMore: boolean
}

export interface SecretPageInput {
  readonly limit: number
  readonly offset: number
}

/** For the audit log. */
export interface ChangedBy {
  readonly actor: AuditActor
  readonly requestId: string | null
}

export interface VaultActor extends ChangedBy {
  /** Id of the operation, if it is not an operation of the vault itself. */
  readonly operation?: string
}

export interface NewSecret {
  readonly name: string
  readonly hosts: readonly string[]
  readonly value: Secret
  /** The secret must not exist, or must exist; left out: it is created or replaced. */
  readonly expects?: 'absent' | 'present'
}

/** Values are never read back. Failures of all: store_unavailable, intern_unknown. */
export interface Vaults {
  /** Succeeds when the vault exists and callers may see it. */
  see(scope: VaultScope): Promise<Outcome<null>>
  list(scope: VaultScope, page: SecretPageInput): Promise<Outcome<SecretPage>>
  /** The vault's secrets with these names, in any order. */
  among(scope: VaultScope, names: readonly string[]): Promise<Outcome<readonly SecretMetadata[]>>
  /** Failures: data_key_unavailable, busy, vault_full; secret_exists or secret_unknown against `expects`. */
  put(scope: VaultScope, input: NewSecret, by: VaultActor): Promise<Outcome<SecretMetadata>>
  /** Failure: secret_unknown. */
  remove(scope: VaultScope, name: string, by: VaultActor): Promise<Outcome<null>>
  /**
   * Copies secrets into an intern's vault, all or none. Failures: secret_unknown, secret_uncopyable (legacy),
   * intern_in_transfer, vault_full, data_key_unavailable, busy.
   */
  copy(
    scope: VaultScope & { readonly internId: string },
    names: readonly string[],
    by: ChangedBy,
  ): Promise<Outcome<readonly SecretMetadata[]>>
  /** Failure: vault_unknown (the attached vault no longer exists). */
  effective(
    scope: VaultScope & { readonly internId: string },
    page: SecretPageInput,
  ): Promise<Outcome<SecretPage<EffectiveSecret>>>
}

export interface ReleaseRequest {
  readonly scope: VaultScope
  readonly name: string
  /** Normalized; compared only for equality. */
  readonly host: string
  readonly operation: string
  readonly by: ChangedBy
}

/** The only way to a secret's value: for the egress route and the credentials of providers. Design §8. */
export interface SecretReleases {
  /**
   * Releases the secret with this name if it is bound to exactly this host. An intern's own secret is looked
   * up first, then the attached one, then the workspace's; other callers have only the workspace's. Releases
   * and refusals are audited. Failures: secret_not_released (the same for unknown, bound to other hosts,
   * legacy, or not decryptable), busy (the audit log is full), store_unavailable.
   */
  release(request: ReleaseRequest): Promise<Outcome<Secret>>
}

/** The secrets for one request to one host. */
export interface BundleRequest extends Omit<ReleaseRequest, 'name'> {
  readonly names: readonly string[]
  /** Called with the length of each value before any value is decrypted: if it returns a failure, nothing is released. */
  fits(bytes: ReadonlyMap<string, number>): Outcome<null>
}

export interface SecretBundles {
  /** All or none: any refusal comes before the first decryption. Failures: those of a release, for the first name refused, and those of `fits`. */
  releaseAll(request: BundleRequest): Promise<Outcome<ReadonlyMap<string, Secret>>>
}
