import type { Outcome } from '../../../schemas/failures.ts'
import type { DirectoryActor } from './directory.ts'

/** A user as SCIM shows it. RFC 7643 §4.1. */
export interface ScimUser {
  readonly id: string
  readonly userName: string
  readonly externalId: string | null
  readonly displayName: string | null
  readonly isActive: boolean
  /** The primary address of `attributes.emails`, else the first. */
  readonly email: string | null
  /** What else the identity provider sent: `name`, `emails`, `title`, extensions, … */
  readonly attributes: Readonly<Record<string, unknown>>
  /** Of its direct groups, by name. */
  readonly groups: readonly { readonly id: string; readonly displayName: string }[]
  /** 1, 2, 3, … with every change: its ETag is `W/"<version>"`. */
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
  /** JSON text of the array of its members, `[]` when they were not asked for: it may have 100,000. */
  readonly members: string
}

/** What replaces a user, or makes one. */
export type ScimUserInput = Pick<
  ScimUser,
  'userName' | 'externalId' | 'displayName' | 'isActive' | 'attributes'
>

export interface ScimGroupInput {
  readonly displayName: string
  readonly externalId: string | null
  readonly userIds: readonly string[]
}

/** One step of a change of a group; all of a request are one transaction, in their order. */
export type ScimGroupStep =
  | { readonly kind: 'set'; readonly displayName?: string; readonly externalId?: string | null }
  /** Those that are members already stay so. */
  | { readonly kind: 'add'; readonly userIds: readonly string[] }
  /** Those that are none are passed over. */
  | { readonly kind: 'remove'; readonly userIds: readonly string[] }
  | { readonly kind: 'replace'; readonly userIds: readonly string[] }

/** What of a resource must hold for a change: its version, or anything. RFC 7644 §3.14. */
export type IfMatch = readonly number[] | null

export interface ScimPage<T> {
  readonly resources: readonly T[]
  /** Of all pages. */
  readonly totalResults: number
}

/** Filter, page and order of a list. RFC 7644 §3.4.2. */
export interface ScimQuery {
  /** As sent; null = all. */
  readonly filter: string | null
  /** From 1. */
  readonly startIndex: number
  readonly count: number
  readonly sortBy: string | null
  readonly isDescending: boolean
}

/**
 * The users of an organization, those too that no identity provider made. Every change is one transaction
 * with its grants, and audited; one that changes nothing is neither. Failures of all: store_unavailable; of
 * those that name one: user_unknown; of lists: scim_filter_invalid, scim_value_invalid; of changes:
 * scim_version_differs.
 */
export interface ScimUsers {
  list(organizationId: string, query: ScimQuery): Promise<Outcome<ScimPage<ScimUser>>>
  get(organizationId: string, id: string): Promise<Outcome<ScimUser>>
  /** Failure: scim_user_taken. */
  create(input: ScimUserInput, by: DirectoryActor): Promise<Outcome<ScimUser>>
  /** @param change of what is there; it runs under the user's lock. Failures: its own, scim_user_taken. */
  update(
    id: string,
    change: (before: ScimUser) => Outcome<ScimUserInput>,
    ifMatch: IfMatch,
    by: DirectoryActor,
  ): Promise<Outcome<ScimUser>>
  /** With all its grants, those by hand too. */
  remove(id: string, ifMatch: IfMatch, by: DirectoryActor): Promise<Outcome<null>>
}

/** The groups of an organization. As `ScimUsers`; of those that name one: scim_group_unknown. */
export interface ScimGroups {
  /**
   * A page ends early where its groups have many members. Failure: scim_too_many (members of its first
   * group).
   */
  list(organizationId: string, query: ScimQuery, hasMembers: boolean): Promise<Outcome<ScimPage<ScimGroup>>>
  get(organizationId: string, id: string, hasMembers: boolean): Promise<Outcome<ScimGroup>>
  /** Failures: scim_group_taken, scim_member_unknown. */
  create(input: ScimGroupInput, by: DirectoryActor): Promise<Outcome<ScimGroup>>
  /** Failures: scim_group_taken, scim_member_unknown. The answer has no members. */
  update(
    id: string,
    steps: readonly ScimGroupStep[],
    ifMatch: IfMatch,
    by: DirectoryActor,
  ): Promise<Outcome<ScimGroup>>
  /** With its mappings and what they granted. */
  remove(id: string, ifMatch: IfMatch, by: DirectoryActor): Promise<Outcome<null>>
}

/** Memory for answers that their callers take their time to read. */
export interface ScimAnswers {
  /** @returns what gives the memory back; null when the organization has as much as it may */
  hold(organizationId: string, bytes: number): (() => void) | null
}
