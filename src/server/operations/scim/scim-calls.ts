import { SCIM_PREFIX } from '../../../schemas/api-prefix.ts'
import { LIST_SCHEMA } from '../../../schemas/scim-attributes.ts'
import { SCIM_RESULTS_DEFAULT, SCIM_RESULTS_MAX } from '../../../schemas/scim-resource-limits.ts'
import type { ScimListQuery, ScimSearchBody } from '../../../schemas/scim-resources.ts'
import type { DirectoryActor } from '../../ports/directory.ts'
import type { IfMatch, ScimQuery } from '../../ports/scim.ts'
import { changedBy, type Call } from '../define.ts'

export const EXAMPLE_ID = '019a5b0c-4e21-7b1c-92d3-e4f5a6b7c8d9'

/** @param operation its id, as the audit log has it */
export function actorOf(call: Pick<Call, 'key' | 'requestId'>, operation: string): DirectoryActor {
  return { ...changedBy(call), operation, organizationId: call.key.organizationId }
}

/** What lists are chosen by. A page that is asked for out of bounds is the nearest one. RFC 7644 §3.4.2.4. */
export function queryOf({ filter, startIndex = 1, count = SCIM_RESULTS_DEFAULT, sortBy, sortOrder }: ScimListQuery | ScimSearchBody): ScimQuery {
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

export function etagOf({ version }: { readonly version: number }): string {
  return `W/"${version}"`
}

const VERSION = /^(?:W\/)?"(\d{1,15})"$/

/** Versions that a header names; those that never were ours match nothing. */
export function versionsOf(header: string | undefined): IfMatch {
  if (header === undefined || header.trim() === '*') return null
  return header.split(',').flatMap((text) => {
    const version = VERSION.exec(text.trim())?.[1]
    return version === undefined ? [] : [Number(version)]
  })
}

/** Whether `If-None-Match` names what there is. */
export function isKnown(header: string | undefined, { version }: { readonly version: number }): boolean {
  return header !== undefined && (versionsOf(header)?.includes(version) ?? true)
}

export function locationOf(origin: string, kind: 'Users' | 'Groups', id: string): string {
  return `${origin}${SCIM_PREFIX}/${kind}/${id}`
}

interface Dated {
  readonly id: string
  readonly version: number
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** RFC 7643 §3.1. */
export function metaOf(origin: string, kind: 'Users' | 'Groups', resource: Dated): object {
  return {
    resourceType: kind === 'Users' ? 'User' : 'Group',
    created: resource.createdAt.toISOString(),
    lastModified: resource.updatedAt.toISOString(),
    location: locationOf(origin, kind, resource.id),
    version: etagOf(resource),
  }
}

export function listHead({ startIndex }: ScimQuery, page: { readonly resources: readonly unknown[]; readonly totalResults: number }): object {
  return { schemas: [LIST_SCHEMA], totalResults: page.totalResults, startIndex, itemsPerPage: page.resources.length }
}
