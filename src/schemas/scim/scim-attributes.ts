/** Names of schemas and attributes. RFC 7643 §4, §8.7.1. */
export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const ENTERPRISE_SCHEMA = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
export const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'
export const SEARCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest'
export const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

/** A SCIM resource, or a complex value of one. */
export type Attributes = Readonly<Record<string, unknown>>

/** Attributes with several values; each is an array of objects with `value`. */
export const MULTI_VALUED: ReadonlySet<string> = new Set([
  'emails',
  'phoneNumbers',
  'ims',
  'photos',
  'addresses',
  'entitlements',
  'roles',
  'x509Certificates',
])

const NAMES = [
  'schemas',
  'id',
  'externalId',
  'meta',
  'userName',
  'name',
  'displayName',
  'nickName',
  'profileUrl',
  'title',
  'userType',
  'preferredLanguage',
  'locale',
  'timezone',
  'active',
  'password',
  'groups',
  'members',
  ...MULTI_VALUED,
  'formatted',
  'familyName',
  'givenName',
  'middleName',
  'honorificPrefix',
  'honorificSuffix',
  'value',
  'display',
  'type',
  'primary',
  '$ref',
  'streetAddress',
  'locality',
  'region',
  'postalCode',
  'country',
  'employeeNumber',
  'costCenter',
  'organization',
  'division',
  'department',
  'manager',
  'resourceType',
  'created',
  'lastModified',
  'location',
  'version',
  'Operations',
  'op',
  'path',
  'attributes',
  'excludedAttributes',
  'filter',
  'sortBy',
  'sortOrder',
  'startIndex',
  'count',
  USER_SCHEMA,
  GROUP_SCHEMA,
  ENTERPRISE_SCHEMA,
]
const CANONICAL = new Map(NAMES.map((name) => [name.toLowerCase(), name]))

/** An attribute's name in the spelling of RFC 7643 §2.1; an unknown name is returned unchanged. */
export function canonicalName(name: string): string {
  return CANONICAL.get(name.toLowerCase()) ?? name
}

/** Names that every object inherits: used as attribute names, they would access the shared prototype. */
export function isReserved(name: string): boolean {
  return name in Object.prototype || name === 'prototype'
}

export function isComplex(value: unknown): value is Attributes {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value with canonical names at every depth, and without reserved names. Of two equal names, the later one counts. */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  return isComplex(value) ? canonicalMembers(value) : value
}

export function canonicalMembers(value: Attributes): Attributes {
  const named: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value))
    if (!isReserved(name)) named[canonicalName(name)] = canonical(member)
  return named
}

/** Finds U+0000, which the store's texts cannot contain, in a text or a name at any depth. */
export function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  if (Array.isArray(value)) return value.some(hasNul)
  return (
    isComplex(value) && Object.entries(value).some(([name, member]) => name.includes('\0') || hasNul(member))
  )
}

/** Number of values in lists, at any depth. */
export function listedValues(value: unknown): number {
  const members: readonly unknown[] = Array.isArray(value)
    ? value
    : isComplex(value)
      ? Object.values(value)
      : []
  return members.reduce<number>(
    (sum, member) => sum + listedValues(member),
    Array.isArray(value) ? value.length : 0,
  )
}

/** Entra writes booleans as texts. @returns undefined for any other value */
export function booleanOf(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (typeof value !== 'string') return undefined
  const text = value.toLowerCase()
  return text === 'true' ? true : text === 'false' ? false : undefined
}

/** The primary address of a user, otherwise the first. */
export function emailOf({ emails }: Attributes): string | null {
  const all: readonly unknown[] = Array.isArray(emails) ? emails : []
  const addresses = all.filter(isComplex).filter(({ value }) => typeof value === 'string' && value !== '')
  const chosen = addresses.find(({ primary }) => primary === true) ?? addresses[0]
  return chosen === undefined ? null : String(chosen['value'])
}
