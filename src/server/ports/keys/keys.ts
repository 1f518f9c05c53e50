import type { KeyKind } from '../../../schemas/keys/api-keys.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { KeyScope } from '../../../schemas/keys/scopes.ts'
import type { KeyMoney } from '../money/key-money.ts'

/**
 * An API key, or a token of an identity provider, as fronts know it. The plain key is never part of it.
 * Contract C4, C5, C9.
 */
export interface KeyRecord {
  /** Lower-case hex SHA-256 of the plain key: the public identity of the key. */
  readonly hash: string
  readonly kind: KeyKind
  readonly name: string
  readonly organizationId: string
  /** Null for management keys and tokens of SCIM, which belong to the organization. */
  readonly workspaceId: string | null
  /** The workspace `default` of the organization: where a management key acts when it names none. */
  readonly defaultWorkspaceId: string
  readonly internId: string | null
  /** Requests a minute; null = no limit. */
  readonly rateLimitRpm: number | null
  readonly isDisabled: boolean
  /** Facts of the key's workspace, of a management key's default one. C5. */
  readonly isInProgramme: boolean
  readonly mayWriteVault: boolean
  readonly expiresAtMs: number | null
  /** Models that it may use: `author/slug`, or `author/*`; null = all. */
  readonly allowedModels: readonly string[] | null
  /** What it may do; null = all that its kind may. C34. */
  readonly scopes: readonly KeyScope[] | null
  readonly money: KeyMoney
}

/** Loads key records from the truth. */
export interface KeyStore {
  /**
   * The records of those that exist, in any order; unknown, revoked and deleted keys are left out alike.
   * Settles within KEY_LOAD_MS_MAX; `store_unavailable` when it cannot tell.
   */
  load(hashes: readonly string[]): Promise<Outcome<readonly KeyRecord[]>>
}

/** Kinds of cached records; an invalidation names one and its id. Design §3. */
export type CachedKind =
  'key' | 'workspace' | 'organization' | 'catalogue' | 'vault' | 'private_endpoint' | 'preset'

export interface Invalidation {
  readonly n: number
  readonly kind: CachedKind
  /**
   * For `key` the hash; for `vault` and `private_endpoint` the workspace, of which a front keeps what both
   * amount to; for `preset` `<workspace>/<slug>`.
   */
  readonly id: string
}

/** What a listener is told: one change, or that it may have missed any. */
export type Change = Invalidation | { readonly kind: 'everything' }

/**
 * Committed changes by a fast channel that may lose, repeat and reorder them: the poll of the epoch is the
 * truth. Design §3.
 */
export interface Hints {
  subscribe(listener: (change: Invalidation) => void): () => void
  /** Resolves when it was sent or given up; a hint that cannot be sent is no failure of the change. */
  publish(change: Invalidation): Promise<void>
}

/** The keys of a new installation, in plain text. */
export interface FirstKeys {
  readonly inferenceKey: string
  readonly managementKey: string
  readonly organizationId: string
  readonly workspaceId: string
}

/** Committed changes in commit order, whichever channel told of them first. */
export interface EpochFeed {
  /** Highest epoch n up to which every invalidation was obeyed. */
  readonly epoch: number
  /** `Date.now()` of the last good poll of the store; decides grace. */
  readonly lastGoodPollAtMs: number
  /**
   * Called synchronously, in order of arrival, for every invalidation by any channel; a second time is
   * harmless.
   */
  subscribe(listener: (change: Change) => void): () => void
}
