import type { ApiKeyKind } from '../../../schemas/keys/api-keys.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { CallLimits } from '../../../schemas/limits/model-calls.ts'
import type { LimitReset } from '../../../schemas/keys/keys.ts'
import type { KeyScope } from '../../../schemas/keys/permissions.ts'
import type { Span } from '../money/money.ts'
import type { ChangedBy } from '../vault/vault.ts'

/** Shared by all keys of one rotation. */
export interface KeyLimits {
  /** Whole nano-USD; null = no limit. */
  readonly limitNano: bigint | null
  /** The window after which the limit resets; null = the key's lifetime. */
  readonly limitReset: LimitReset | null
  /** Calls with a workspace's own credentials count against the limit. */
  readonly countsByok: boolean
}

export interface ManagedKey extends KeyLimits {
  readonly hash: string
  readonly label: string
  readonly kind: ApiKeyKind
  readonly name: string
  readonly organizationId: string
  /** Null for management keys. */
  readonly workspaceId: string | null
  readonly defaultWorkspaceId: string
  readonly internId: string | null
  readonly isDisabled: boolean
  /** Requests a minute; null = no limit. */
  readonly rateLimitRpm: number | null
  /** Requests that may arrive at once, at most the limit; null = the default, or no limit. */
  readonly rateLimitBurst: number | null

  readonly callLimits: CallLimits
  /** `author/slug` or `author/*`; null = all. */
  readonly allowedModels: readonly string[] | null
  /** Null = all. */
  readonly scopes: readonly KeyScope[] | null
  /** Whole nano-USD that count against the limit in its current window, or that would count if there were a limit. */
  readonly countedNano: bigint
  /** Whole nano-USD in the current windows, for all keys of the rotation. */
  readonly spent: Readonly<Record<Span, bigint>>
  readonly byok: Readonly<Record<Span, bigint>>
  readonly creatorUserId: string | null
  readonly externalUser: string | null
  readonly createdAt: Date
  readonly updatedAt: Date | null
  readonly expiresAt: Date | null
}

export interface NewApiKey extends KeyLimits {
  readonly kind: ApiKeyKind
  readonly name: string
  /** Null for an intern's key: the intern's own organization. */
  readonly organizationId: string | null
  /**
   * UUID or slug; null for a management key, and for an intern's key, which acts in the workspace of the
   * intern.
   */
  readonly workspace: string | null
  /** As sent; null for keys of other kinds. */
  readonly internId: string | null
  readonly isDisabled?: boolean
  /** Left out: the operator's default. */
  readonly rateLimitRpm?: number | null
  readonly rateLimitBurst?: number | null
  readonly callLimits?: Partial<CallLimits>
  readonly allowedModels: readonly string[] | null
  readonly scopes: readonly KeyScope[] | null
  readonly creatorUserId: string | null
  readonly externalUser: string | null
  readonly expiresAt: Date | null
}

/** Fields that are left out keep their values. */
export type KeyChanges = Partial<
  KeyLimits &
    Pick<
      ManagedKey,
      'name' | 'isDisabled' | 'rateLimitRpm' | 'rateLimitBurst' | 'allowedModels' | 'scopes'
    > & {
      readonly callLimits: Partial<CallLimits>
    }
>

export interface KeyRef {
  /** Null = the key's own organization, for operators. */
  readonly organizationId: string | null
  /** As sent. */
  readonly hash: string
}

export interface KeyPageInput {
  readonly organizationId: string | null
  /** UUID or slug; null = all workspaces. */
  readonly workspace: string | null
  readonly includesDisabled: boolean
  readonly offset: number
}

export interface Rotation {
  readonly overlapS: number
  /** Expiry of the new key; left out: that of the old key. */
  readonly expiresAt?: Date | null
}

export interface MadeKey {
  readonly apiKey: ManagedKey
  /** The plain key: Sluice keeps no copy and never shows it again. */
  readonly key: string
}

export interface RotatedKey extends MadeKey {
  readonly previous: { readonly hash: string; readonly expiresAt: Date }
}

export interface KeyActor extends ChangedBy {
  readonly operation: string
}

/** Every change is audited and announced to all fronts. Failures of all: store_unavailable; of methods that name a key: api_key_unknown. */
export interface ApiKeys {
  /** Newest first, at most KEYS_PAGE. Failures: workspace_unknown, reference_ambiguous. */
  list(input: KeyPageInput): Promise<Outcome<readonly ManagedKey[]>>
  get(ref: KeyRef): Promise<Outcome<ManagedKey>>
  /** Failures: workspace_unknown, intern_unknown, body_invalid (a burst above the limit). */
  create(input: NewApiKey, by: KeyActor): Promise<Outcome<MadeKey>>
  /**
   * Money limits change for all keys of the rotation, other fields only for this key; a lowered rate limit
   * also lowers the burst. Failures: key_unscoped (a management key cannot have scopes), body_invalid (a burst
   * above the limit).
   */
  update(ref: KeyRef, changes: KeyChanges, by: KeyActor): Promise<Outcome<ManagedKey>>
  remove(ref: KeyRef, by: KeyActor): Promise<Outcome<null>>
  /** The new key has the same account. An expired key counts as unknown here. */
  rotate(ref: KeyRef, input: Rotation, by: KeyActor): Promise<Outcome<RotatedKey>>
}
