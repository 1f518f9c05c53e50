import type { Outcome } from '../../../schemas/failures.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import type { AuditActor } from '../audit/audit.ts'

/** One vault: the workspace's own, that of an intern in it, or one that its interns may attach. */
export interface VaultScope {
  readonly organizationId: string
  readonly workspaceId: string
  /** Null = the workspace's own vault. */
  readonly internId: string | null
  /** Id of an attachable vault, for the command line alone; `internId` is null then. */
  readonly attachableId?: string
}

/** All that any reply contains of a secret. */
export interface SecretMetadata {
  readonly name: string
  /** Normalized, sorted; null only for secrets stored by early versions, which are never released. */
  readonly hosts: readonly string[] | null
  /** `sha256:<hex>` of an HMAC under the vault's own key; null only for legacy rows. */
  readonly fingerprint: string | null
  /** Instant of the first store: a replacement keeps it. */
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
  /** Id of the operation, if it is not one of the vault's own. */
  readonly operation?: string
}

export interface NewSecret {
  readonly name: string
  readonly hosts: readonly string[]
  readonly value: Secret
  /** The secret must not be there, or must be there; left out: it is made or replaced. */
  readonly expects?: 'absent' | 'present'
}

/** Never read back. Failures of all: store_unavailable, intern_unknown. */
export interface Vaults {
  /** Whether the vault exists and callers may see it. */
  see(scope: VaultScope): Promise<Outcome<null>>
  list(scope: VaultScope, page: SecretPageInput): Promise<Outcome<SecretPage>>
  /** The secrets of these names that the vault has, in any order. */
  among(scope: VaultScope, names: readonly string[]): Promise<Outcome<readonly SecretMetadata[]>>
  /** Failures: data_key_unavailable, busy, vault_full; secret_exists or secret_unknown against `expects`. */
  put(scope: VaultScope, input: NewSecret, by: VaultActor): Promise<Outcome<SecretMetadata>>
  /** Failure: secret_unknown. */
  remove(scope: VaultScope, name: string, by: VaultActor): Promise<Outcome<null>>
  /**
   * Into an intern's vault, all or none. Failures: secret_unknown, secret_uncopyable (legacy),
   * intern_in_transfer, vault_full, data_key_unavailable, busy.
   */
  copy(
    scope: VaultScope & { readonly internId: string },
    names: readonly string[],
    by: ChangedBy,
  ): Promise<Outcome<readonly SecretMetadata[]>>
  /** Failure: vault_unknown (the attached vault is gone). */
  effective(
    scope: VaultScope & { readonly internId: string },
    page: SecretPageInput,
  ): Promise<Outcome<SecretPage<EffectiveSecret>>>
}

export interface ReleaseRequest {
  readonly scope: VaultScope
  readonly name: string
  /** Normalized; compared for equality and nothing else. */
  readonly host: string
  readonly operation: string
  readonly by: ChangedBy
}

/** The only way to a secret's value: for the egress route and the credentials of providers. Design §8. */
export interface SecretReleases {
  /**
   * By name (for an intern: intern, attached, workspace; else the workspace's), if bound to exactly this
   * host; release and refusal are audited. Failures: secret_not_released (one for unknown, bound elsewhere,
   * legacy, or does not open), busy (the audit log is full), store_unavailable.
   */
  release(request: ReleaseRequest): Promise<Outcome<Secret>>
}

/** For one request to one host. */
export interface BundleRequest extends Omit<ReleaseRequest, 'name'> {
  readonly names: readonly string[]
  /** Called with the bytes of each value before any value is opened: a failure ends the request, and nothing is released. */
  fits(bytes: ReadonlyMap<string, number>): Outcome<null>
}

export interface SecretBundles {
  /** All or none: a refusal precedes any opening. Failures: those of a release, for the first name refused, and those of `fits`. */
  releaseAll(request: BundleRequest): Promise<Outcome<ReadonlyMap<string, Secret>>>
}
