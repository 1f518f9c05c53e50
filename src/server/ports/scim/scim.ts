import type { Outcome } from '../../../schemas/failures.ts'
import type { DirectoryActor } from './directory.ts'

/** RFC 7643 §4.1. */
export interface ScimUser {
  readonly id: string
  readonly userName: string
  readonly externalId: string | null
  readonly displayName: string | null
  readonly isActive: boolean
  /** The primary address of `attributes.emails`, otherwise the first one. */
  readonly email: string | null
  /** Other attributes from the identity provider: `name`, `emails`, `title`, extensions, … */
  readonly attributes: Readonly<Record<string, unknown>>
  /** Direct groups, by name. */
  readonly groups: readonly { readonly id: string; readonly displayName: string }[]
  /** 1, 2, 3, … with every change; the ETag is `W/"<version>"`. */
  readonly version: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface ScimGroup {
  readonly id: string
  readonly displayName: string
  readonly externalId: string | null
  readonly version: number
  readonly createdAt: Date
  readonly updatedAt: Date
  /** JSON text of the array of its members, `[]` when the request left them out: there may be 100,000. */
  readonly members: string
}

export type ScimUserInput = Pick<
  ScimUser,
  'userName' | 'externalId' | 'displayName' | 'isActive' | 'attributes'
>

export interface ScimGroupInput {
  readonly displayName: string
  readonly externalId: string | null
  readonly userIds: readonly string[]
}

/** One step of a change; all steps of a request are applied in order in one transaction. */
export type ScimGroupStep =
  | { readonly kind: 'set'; readonly displayName?: string; readonly externalId?: string | null }
  /** Users that are already members remain members. */
  | { readonly kind: 'add'; readonly userIds: readonly string[] }
  /** Users that are not members are ignored. */
  | { readonly kind: 'remove'; readonly userIds: readonly string[] }
  | { readonly kind: 'replace'; readonly userIds: readonly string[] }

/** The resource must have one of these versions before a change; null: any version. RFC 7644 §3.14. */
export type IfMatch = readonly number[] | null

export interface ScimPage<T> {
  readonly resources: readonly T[]
  /** Number of resources on all pages. */
  readonly totalResults: number
}

/** RFC 7644 §3.4.2. */
export interface ScimQuery {
  /** The filter as sent; null = all. */
  readonly filter: string | null
  /** Counts from 1. */
  readonly startIndex: number
  readonly count: number
  readonly sortBy: string | null
  readonly isDescending: boolean
}

/**
 * The resources of one kind of an organization. Every change is one transaction with its grants, and audited;
 * a change without effect is neither. Failures of all: store_unavailable; of methods that name a resource:
 * user_unknown or scim_group_unknown; of lists: scim_filter_invalid, scim_value_invalid; of changes:
 * scim_version_differs, and scim_user_taken, or scim_group_taken and scim_member_unknown.
 */
export interface ScimResources<R, Input, Change> {
  /**
   * A page ends early when its groups have many members. Failure: scim_too_many (members of its first group).
   * @param hasMembers true: groups are returned with their members
   */
  list(organizationId: string, query: ScimQuery, hasMembers?: boolean): Promise<Outcome<ScimPage<R>>>
  get(organizationId: string, id: string, hasMembers?: boolean): Promise<Outcome<R>>
  /** A group is returned without its members. */
  create(input: Input, by: DirectoryActor): Promise<Outcome<R>>
  /** A group is returned without its members. */
  update(id: string, change: Change, ifMatch: IfMatch, by: DirectoryActor): Promise<Outcome<R>>
  /** Removes a user with all grants, including manual ones; a group with its mappings and their grants. */
  remove(id: string, ifMatch: IfMatch, by: DirectoryActor): Promise<Outcome<null>>
}

/** Computes the new input from the existing user, which is locked meanwhile; its failures are those of the change. */
export type ScimUserUpdate = (before: ScimUser) => Outcome<ScimUserInput>

/** Users of an organization, including users that were not created by an identity provider. */
export type ScimUsers = ScimResources<ScimUser, ScimUserInput, ScimUserUpdate>

export type ScimGroups = ScimResources<ScimGroup, ScimGroupInput, readonly ScimGroupStep[]>

/** Memory for replies that their callers read slowly. */
export interface ScimAnswers {
  /** @returns a function that frees the memory; null when the organization has used up its share */
  hold(organizationId: string, bytes: number): (() => void) | null
}
