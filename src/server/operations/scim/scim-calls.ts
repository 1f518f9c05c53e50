import { createHash } from 'node:crypto'
import { SCIM_PREFIX } from '../../../schemas/api-prefix.ts'
import { LIST_SCHEMA } from '../../../schemas/scim/scim-attributes.ts'
import { SCIM_RESULTS_DEFAULT, SCIM_RESULTS_MAX } from '../../../schemas/scim/scim-limits.ts'
import type { ScimListQuery, ScimSearchBody } from '../../../schemas/scim/scim-resources.ts'
import type { DirectoryActor } from '../../ports/scim/directory.ts'
import type { IfMatch, ScimQuery } from '../../ports/scim/scim.ts'
import { actorOf, type Call } from '../define.ts'

export const EXAMPLE_ID = '019a5b0c-4e21-7b1c-92d3-e4f5a6b7c8d9'

export function directoryActorOf(call: Pick<Call, 'key' | 'requestId' | 'operationId'>): DirectoryActor {
  return { ...actorOf(call), organizationId: call.key.organizationId }
}

/** The selection of a list. A page out of bounds becomes the nearest valid page. RFC 7644 §3.4.2.4. */
export function queryOf({
  filter,
  startIndex = 1,
  count = SCIM_RESULTS_DEFAULT,
  sortBy,
  sortOrder,
}: ScimListQuery | ScimSearchBody): ScimQuery {
  return {
    filter: textOf(filter),
    startIndex: Math.min(Math.max(startIndex, 1), Number.MAX_SAFE_INTEGER),
    count: Math.min(Math.max(count, 0), SCIM_RESULTS_MAX),
    sortBy: textOf(sortBy),
    isDescending: sortOrder?.toLowerCase() === 'descending',
  }
}

function textOf(text: string | undefined): string | null {
  return text === undefined || text.trim() === '' ? null : text
}

/** The part that all resources have in common. The ETag covers the version and a user's groups, which the version does not cover. */
export interface Tagged {
  readonly id: string
  readonly version: number
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly groups?: readonly { readonly id: string; readonly displayName: string }[]
}

/**
 * The ETag of a resource. Conditional changes compare only the version; the digest after it shows whether
 * other parts of the resource changed.
 */
export function etagOf({ version, groups = [] }: Tagged): string {
  if (groups.length === 0) return `W/"${version}"`
  const digest = createHash('sha256')
    .update(JSON.stringify(groups.map(({ id, displayName }) => [id, displayName])))
    .digest('hex')
  return `W/"${version}.${digest.slice(0, GROUPS_DIGEST_CHARS)}"`
}

const GROUPS_DIGEST_CHARS = 16
const TAG = new RegExp(`^(?:W/)?("(\\d{1,15})(?:\\.[0-9a-f]{${GROUPS_DIGEST_CHARS}})?")$`)

/** Versions that a header names; tags that Sluice did not issue match nothing. */
export function versionsOf(header: string | undefined): IfMatch {
  return tagsOf(header)?.map(({ version }) => version) ?? null
}

/** True when `If-None-Match` contains the current ETag. */
export function isKnown(header: string | undefined, resource: Tagged): boolean {
  if (header === undefined) return false
  const tags = tagsOf(header)
  if (tags === null) return true
  const present = etagOf(resource)
  return tags.some(({ text }) => `W/${text}` === present)
}

/** Null: any tag. */
function tagsOf(
  header: string | undefined,
): readonly { readonly text: string; readonly version: number }[] | null {
  if (header === undefined || header.trim() === '*') return null
  return header.split(',').flatMap((one) => {
    const [, text, version] = TAG.exec(one.trim()) ?? []
    return text === undefined ? [] : [{ text, version: Number(version) }]
  })
}

export function locationOf(origin: string, kind: 'Users' | 'Groups', id: string): string {
  return `${origin}${SCIM_PREFIX}/${kind}/${id}`
}

/** Metadata of a resource. RFC 7643 §3.1. */
export function metaOf(origin: string, kind: 'Users' | 'Groups', resource: Tagged): object {
  return {
    resourceType: kind === 'Users' ? 'User' : 'Group',
    created: resource.createdAt.toISOString(),
    lastModified: resource.updatedAt.toISOString(),
    location: locationOf(origin, kind, resource.id),
    version: etagOf(resource),
  }
}

export function listHead(
  { startIndex }: ScimQuery,
  page: { readonly resources: readonly unknown[]; readonly totalResults: number },
): object {
  return {
    schemas: [LIST_SCHEMA],
    totalResults: page.totalResults,
    startIndex,
    itemsPerPage: page.resources.length,
  }
}
