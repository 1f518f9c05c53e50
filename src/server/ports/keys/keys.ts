import type { KeyKind } from '../../../schemas/keys/api-keys.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { LimitsOfCalls } from '../../../schemas/limits/model-calls.ts'
import type { KeyScope } from '../../../schemas/keys/permissions.ts'
import type { LimitFlags } from '../../../schemas/money/costs.ts'

/** An API key, or a token of an identity provider, as fronts cache it; never the plain key. */
export interface KeyRecord {
  /** Lower-case hex SHA-256 of the plain key: the public identity of the key. */
  readonly hash: string
  readonly kind: KeyKind
  readonly name: string
  readonly organizationId: string
  /** Null for management keys and SCIM tokens, which belong to the organization. */
  readonly workspaceId: string | null
  /** The workspace of calls with a management key that name none. */
  readonly defaultWorkspaceId: string
  readonly internId: string | null
  /** Requests a minute; null = no limit. */
  readonly rateLimitRpm: number | null
  /** Requests that may arrive at once, at most the limit; null: the operator's default, or without one a share of the limit. */
  readonly rateLimitBurst: number | null
  /** Null or left out: neither the key nor its workspace limits calls to models. */
  readonly callLimits?: LimitsOfCalls | null
  readonly isDisabled: boolean
  /** Settings of the key's workspace; for a management key, of the default workspace. */
  readonly isInProgramme: boolean
  readonly mayWriteVault: boolean
  readonly expiresAtMs: number | null
  /** Models that the key may use: `author/slug`, or `author/*`; null = all. */
  readonly allowedModels: readonly string[] | null
  /** Scopes of the key; null = all that its kind may have. */
  readonly scopes: readonly KeyScope[] | null
  readonly money: KeyMoney
}

export interface KeyStore {
  /** Unknown, revoked and deleted keys are left out. Settles within KEY_LOAD_MS_MAX; without an answer by then it fails with store_unavailable. */
  load(hashes: readonly string[]): Promise<Outcome<readonly KeyRecord[]>>
}

/** Kinds of cached records; an invalidation names a kind and an id. */
export type CachedKind =
  'key' | 'workspace' | 'organization' | 'catalogue' | 'vault' | 'private_endpoint' | 'preset'

export interface Invalidation {
  readonly n: number
  readonly kind: CachedKind
  /** The hash for a `key`; the workspace for `vault` and `private_endpoint`; `<workspace>/<slug>` for `preset`. */
  readonly id: string
}

/** `everything`: any record may have changed without the listener being informed. */
export type Change = Invalidation | { readonly kind: 'everything' }

/** May lose, repeat and reorder committed changes; the poll of the epoch is the source of truth. */
export interface Hints {
  subscribe(listener: (change: Invalidation) => void): () => void
  /** Resolves when the hint was sent, or sending was given up; a hint that cannot be sent does not fail the change. */
  publish(change: Invalidation): Promise<void>
}

/** The plain keys of a new installation. */
export interface FirstKeys {
  readonly inferenceKey: string
  readonly managementKey: string
  readonly organizationId: string
  readonly workspaceId: string
}

/** Committed changes in commit order, regardless of the channel by which they arrived first. */
export interface EpochFeed {
  /** Highest epoch up to which every invalidation has been applied. */
  readonly epoch: number
  /** `Date.now()` of the last good poll of the store; decides how long cached keys stay valid. */
  readonly lastGoodPollAtMs: number
  /** Called synchronously, in order of arrival, for every channel; listeners must accept two calls for the same change. */
  subscribe(listener: (change: Change) => void): () => void
}

/** Cached with the key's record: after a change of limits a flag is outdated until the change reaches the front, as `effective` shows. */
export interface KeyMoney extends LimitFlags {
  /** Account of the key, shared by the keys of its rotation. */
  readonly accountId: string
}
