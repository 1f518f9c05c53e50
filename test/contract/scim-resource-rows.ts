import type { ContractRow } from './contract-rows.ts'

const SERVICE = { area: 'scim', keys: ['scim'], uncaused: {} } as const
const CHANGE = [400, 403, 404, 409, 412, 413, 500] as const

/** Part of CONTRACT_ROWS: Users and Groups of the SCIM service, by RFC 7644 §3 and table 8. C2. */
export const SCIM_RESOURCE_ROWS: Readonly<Record<string, ContractRow>> = {
  'scim.list_users': { ...SERVICE, method: 'get', path: '/Users', success: 200, statuses: [400, 403, 500], source: 'RFC 7644 §3.4.2' },
  'scim.search_users': { ...SERVICE, method: 'post', path: '/Users/.search', success: 200, statuses: [400, 403, 413, 500], source: 'RFC 7644 §3.4.3' },
  'scim.get_user': { ...SERVICE, method: 'get', path: '/Users/{id}', success: 200, statuses: [403, 404, 500], source: 'RFC 7644 §3.4.1' },
  'scim.create_user': { ...SERVICE, method: 'post', path: '/Users', success: 201, statuses: [400, 403, 409, 413, 500], source: 'RFC 7644 §3.3' },
  'scim.replace_user': { ...SERVICE, method: 'put', path: '/Users/{id}', success: 200, statuses: CHANGE, source: 'RFC 7644 §3.5.1' },
  'scim.patch_user': { ...SERVICE, method: 'patch', path: '/Users/{id}', success: 200, statuses: CHANGE, source: 'RFC 7644 §3.5.2' },
  'scim.delete_user': { ...SERVICE, method: 'delete', path: '/Users/{id}', success: 204, statuses: [403, 404, 412, 500], source: 'RFC 7644 §3.6' },
  'scim.list_scim_groups': { ...SERVICE, method: 'get', path: '/Groups', success: 200, statuses: [400, 403, 500], source: 'RFC 7644 §3.4.2' },
  'scim.search_groups': { ...SERVICE, method: 'post', path: '/Groups/.search', success: 200, statuses: [400, 403, 413, 500], source: 'RFC 7644 §3.4.3' },
  'scim.get_group': { ...SERVICE, method: 'get', path: '/Groups/{id}', success: 200, statuses: [403, 404, 500], source: 'RFC 7644 §3.4.1' },
  'scim.create_group': { ...SERVICE, method: 'post', path: '/Groups', success: 201, statuses: [400, 403, 409, 413, 500], source: 'RFC 7644 §3.3' },
  'scim.replace_group': { ...SERVICE, method: 'put', path: '/Groups/{id}', success: 200, statuses: CHANGE, source: 'RFC 7644 §3.5.1' },
  'scim.patch_group': { ...SERVICE, method: 'patch', path: '/Groups/{id}', success: 204, statuses: CHANGE, source: 'RFC 7644 §3.5.2' },
  'scim.delete_group': { ...SERVICE, method: 'delete', path: '/Groups/{id}', success: 204, statuses: [403, 404, 412, 500], source: 'RFC 7644 §3.6' },
}
