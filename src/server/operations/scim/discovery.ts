import type { TSchema } from 'typebox'
import { SCIM_PREFIX } from '../../../schemas/api-prefix.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { LIST_SCHEMA, USER_SCHEMA } from '../../../schemas/scim/scim-attributes.ts'
import {
  CONFIG_SCHEMA,
  DiscoveryParams,
  DiscoveryQuery,
  RESOURCE_TYPE_SCHEMA,
  ResourceTypeBody,
  ResourceTypesBody,
  SCHEMA_SCHEMA,
  SchemaBody,
  SchemasBody,
  ScimConfigBody,
} from '../../../schemas/scim/scim-discovery.ts'
import { SCIM_RESULTS_MAX } from '../../../schemas/scim/scim-limits.ts'
import { SCIM_RESOURCE_TYPES, SCIM_SCHEMAS } from '../../../schemas/scim/scim-schemas.ts'
import { defineOperation, type AnyOperation } from '../define.ts'

const COMMON = { area: 'scim', tag: 'scim' } as const
/** Lists have no 404. */
const STATUSES = [400, 403, 500] as const

/** Describes the supported parts of SCIM. Source: RFC 7643 §5, RFC 7644 §4. */
const getConfig = defineOperation({
  ...COMMON,
  id: 'scim.get_config',
  method: 'get',
  path: '/ServiceProviderConfig',
  summary: 'Get the service provider configuration',
  input: { query: DiscoveryQuery },
  success: { status: 200, body: ScimConfigBody },
  statuses: STATUSES,
  failures: ['scim_filter_refused'],
  example: {},
  run: ({ query }, { publicOrigin }) =>
    filterRefusal(query) ?? ok({ kind: 'json', value: configOf(publicOrigin) }),
})

function configOf(origin: string): ScimConfigBody {
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

/**
 * A query with a filter is refused: a client that filters must not mistake the whole list for matches. RFC
 * 7644 §4.
 */
function filterRefusal({ filter }: DiscoveryQuery): Outcome<never> | null {
  return filter === undefined ? null : fail('scim_filter_refused')
}

/** A kind of descriptive resource, such as schemas, of which there are only a few. */
interface Described {
  readonly path: string
  readonly list: { readonly id: string; readonly summary: string; readonly body: TSchema }
  readonly get: { readonly id: string; readonly summary: string; readonly body: TSchema }
  /** The value of `meta.resourceType`. */
  readonly type: string
  readonly schema: string
  readonly all: readonly { readonly id: string }[]
  readonly example: string
  isId(given: string, id: string): boolean
}

/** Lists all on one page, and reads one by its id. Source: RFC 7643 §6, §7, RFC 7644 §3.4.2, §4. */
function described({
  path,
  list,
  get,
  type,
  schema,
  all,
  example,
  isId,
}: Described): readonly AnyOperation[] {
  const answerOf = (one: { readonly id: string }, origin: string): object => {
    const location = `${origin}${SCIM_PREFIX}${path}/${one.id}`
    return { schemas: [schema], ...one, meta: { resourceType: type, location } }
  }
  const { length } = all
  return [
    defineOperation({
      ...COMMON,
      id: list.id,
      method: 'get',
      path,
      summary: list.summary,
      input: { query: DiscoveryQuery },
      success: { status: 200, body: list.body, isList: true },
      statuses: STATUSES,
      failures: ['scim_filter_refused'],
      example: {},
      run({ query }, { publicOrigin }) {
        const head = { schemas: [LIST_SCHEMA], totalResults: length, startIndex: 1, itemsPerPage: length }
        const Resources = all.map((one) => answerOf(one, publicOrigin))
        return filterRefusal(query) ?? ok({ kind: 'json', value: { ...head, Resources } })
      },
    }),
    defineOperation({
      ...COMMON,
      id: get.id,
      method: 'get',
      path: `${path}/{id}`,
      summary: get.summary,
      input: { params: DiscoveryParams },
      success: { status: 200, body: get.body },
      statuses: [...STATUSES, 404],
      failures: ['scim_resource_unknown'],
      example: { params: { id: example } },
      run({ params }, { publicOrigin }) {
        const found = all.find(({ id }) => isId(params.id, id))
        return found === undefined
          ? fail('scim_resource_unknown')
          : ok({ kind: 'json', value: answerOf(found, publicOrigin) })
      },
    }),
  ]
}

interface Refused extends Pick<AnyOperation, 'id' | 'method' | 'path' | 'summary'> {
  readonly what: string
}

/** Refuses an optional part of SCIM. */
function refused({ what, ...head }: Refused): AnyOperation {
  return defineOperation({
    ...COMMON,
    ...head,
    outlivesClient: false,
    input: {},
    success: { status: 501, body: null },
    statuses: [400, 403, 500, 501],
    failures: ['scim_unsupported'],
    example: {},
    run: () => fail('scim_unsupported', { fields: { what } }),
  })
}

/** In the order of the reference page. */
export const SCIM_DISCOVERY: readonly AnyOperation[] = [
  getConfig,
  ...described({
    path: '/ResourceTypes',
    list: { id: 'scim.list_resource_types', summary: 'List resource types', body: ResourceTypesBody },
    get: { id: 'scim.get_resource_type', summary: 'Get a resource type', body: ResourceTypeBody },
    type: 'ResourceType',
    schema: RESOURCE_TYPE_SCHEMA,
    all: SCIM_RESOURCE_TYPES,
    example: 'User',
    isId: (given, id) => given === id,
  }),
  ...described({
    path: '/Schemas',
    list: { id: 'scim.list_schemas', summary: 'List schemas', body: SchemasBody },
    get: { id: 'scim.get_schema', summary: 'Get a schema', body: SchemaBody },
    type: 'Schema',
    schema: SCHEMA_SCHEMA,
    all: SCIM_SCHEMAS,
    example: USER_SCHEMA,
    // URNs are compared case-insensitively: RFC 8141 §3.1 for their prefix, and Sluice's own rule for the rest.
    isId: (given, id) => given.toLowerCase() === id.toLowerCase(),
  }),
  // A token does not represent a user. RFC 7644 §3.11.
  refused({
    id: 'scim.refuse_me',
    method: 'any',
    path: '/Me',
    summary: '`/Me`: not supported',
    what: '`/Me`, because a token does not belong to a user',
  }),
  refused({
    id: 'scim.refuse_bulk',
    method: 'post',
    path: '/Bulk',
    summary: 'Bulk requests: not supported',
    what: 'bulk requests',
  }),
  refused({
    id: 'scim.refuse_search',
    method: 'post',
    path: '/.search',
    summary: 'Search over all resource types: not supported',
    what: 'searches across all resource types; use `.search` of a single type',
  }),
]
