import type { ContractRow } from '../contract-row.ts'

const READ = { method: 'get', area: 'scim', success: 200, keys: ['scim'] } as const
const REFUSED = { area: 'scim', success: 501, statuses: [400, 403, 500, 501], keys: ['scim'] } as const
const NO_INPUT = { 400: 'it reads nothing of the request' } as const

/** Part of CONTRACT_ROWS. */
export const SCIM_DISCOVERY_ROWS: Readonly<Record<string, ContractRow>> = {
  'scim.get_config': {
    ...READ,
    path: '/ServiceProviderConfig',
    statuses: [400, 403, 500],
    source: 'RFC 7644 §4, C2, C29',
    uncaused: {},
  },
  'scim.list_resource_types': {
    ...READ,
    path: '/ResourceTypes',
    statuses: [400, 403, 500],
    source: 'RFC 7644 §4',
    uncaused: {},
  },
  'scim.get_resource_type': {
    ...READ,
    path: '/ResourceTypes/{id}',
    statuses: [400, 403, 404, 500],
    source: 'RFC 7644 §4',
    uncaused: {},
  },
  'scim.list_schemas': {
    ...READ,
    path: '/Schemas',
    statuses: [400, 403, 500],
    source: 'RFC 7644 §4',
    uncaused: {},
  },
  'scim.get_schema': {
    ...READ,
    path: '/Schemas/{id}',
    statuses: [400, 403, 404, 500],
    source: 'RFC 7644 §4',
    uncaused: {},
  },
  'scim.refuse_me': { ...REFUSED, method: 'any', path: '/Me', source: 'RFC 7644 §3.11', uncaused: NO_INPUT },
  'scim.refuse_bulk': {
    ...REFUSED,
    method: 'post',
    path: '/Bulk',
    source: 'RFC 7644 §3.7',
    uncaused: NO_INPUT,
  },
  'scim.refuse_search': {
    ...REFUSED,
    method: 'post',
    path: '/.search',
    source: 'RFC 7644 §3.4.3',
    uncaused: NO_INPUT,
  },
}
