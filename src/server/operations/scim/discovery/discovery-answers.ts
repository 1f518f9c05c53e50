import { SCIM_PREFIX } from '../../../../schemas/api-prefix.ts'
import { fail, ok, type Outcome } from '../../../../schemas/failures.ts'
import { LIST_SCHEMA } from '../../../../schemas/scim/scim-attributes.ts'
import {
  CONFIG_SCHEMA,
  RESOURCE_TYPE_SCHEMA,
  SCHEMA_SCHEMA,
  type DiscoveryQuery,
  type ScimConfigBody,
} from '../../../../schemas/scim/scim-discovery.ts'
import { SCIM_RESULTS_MAX } from '../../../../schemas/scim/scim-resource-limits.ts'
import type { ScimResourceType, ScimSchema } from '../../../../schemas/scim/scim-schemas.ts'
import type { Success } from '../../define.ts'

/** Statuses of discovery; lists have no 404. */
export const DISCOVERY_STATUSES = [400, 403, 500] as const

/**
 * `scim_filter_refused` for a query with a filter: a client that filters must not take the whole list for the
 * matches. RFC 7644 §4.
 */
export function filterRefusal({ filter }: DiscoveryQuery): Outcome<never> | null {
  return filter === undefined ? null : fail('scim_filter_refused')
}

/** The parts of SCIM that Sluice serves. RFC 7643 §5. */
export function configAnswer(origin: string): ScimConfigBody {
  return {
    schemas: [CONFIG_SCHEMA],
    documentationUri: `${origin}/docs`,
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: SCIM_RESULTS_MAX },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'A token of the organization, created by `sluice scim tokens create`.',
        specUri: 'https://www.rfc-editor.org/info/rfc6750',
        primary: true,
      },
    ],
    meta: {
      resourceType: 'ServiceProviderConfig',
      location: `${origin}${SCIM_PREFIX}/ServiceProviderConfig`,
    },
  }
}

export function resourceTypeAnswer(type: ScimResourceType, origin: string): object {
  const location = `${origin}${SCIM_PREFIX}/ResourceTypes/${type.id}`
  return { schemas: [RESOURCE_TYPE_SCHEMA], ...type, meta: { resourceType: 'ResourceType', location } }
}

export function schemaAnswer(schema: ScimSchema, origin: string): object {
  const location = `${origin}${SCIM_PREFIX}/Schemas/${schema.id}`
  return { schemas: [SCHEMA_SCHEMA], ...schema, meta: { resourceType: 'Schema', location } }
}

/** All resources on one page. RFC 7644 §3.4.2. */
export function listAnswer(resources: readonly object[]): Outcome<Success> {
  const { length } = resources
  const value = {
    schemas: [LIST_SCHEMA],
    totalResults: length,
    startIndex: 1,
    itemsPerPage: length,
    Resources: resources,
  }
  return ok({ kind: 'json', value })
}
