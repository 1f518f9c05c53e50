import type { ContractRow } from '../contract-row.ts'

const KEYS = ['management'] as const
const NO_MISSING_ROW = 'it names nothing that could be missing'

/** Part of CONTRACT_ROWS. A key of another kind is 401: no row of B2.5 has 403. C3. */
export const MAPPING_ROWS: Readonly<Record<string, ContractRow>> = {
  'scim.list_mappings': {
    method: 'get',
    path: '/scim/group-mappings',
    success: 200,
    statuses: [404, 500],
    keys: KEYS,
    source: 'B2.5',
    uncaused: { 404: NO_MISSING_ROW },
  },
  'scim.create_mapping': {
    method: 'post',
    path: '/scim/group-mappings',
    success: 201,
    statuses: [400, 404, 409, 500],
    keys: KEYS,
    source: 'B2.5, C6, C16',
    uncaused: {},
  },
  'scim.get_mapping': {
    method: 'get',
    path: '/scim/group-mappings/{id}',
    success: 200,
    statuses: [404, 500],
    keys: KEYS,
    source: 'B2.5',
    uncaused: {},
  },
  'scim.update_mapping': {
    method: 'patch',
    path: '/scim/group-mappings/{id}',
    success: 200,
    statuses: [400, 404, 500],
    keys: KEYS,
    source: '§4.5, B1.5',
    uncaused: {},
  },
  'scim.delete_mapping': {
    method: 'delete',
    path: '/scim/group-mappings/{id}',
    success: 200,
    statuses: [400, 404, 500],
    keys: KEYS,
    source: '§4.6, B1.6',
    uncaused: {},
  },
  'scim.list_groups': {
    method: 'get',
    path: '/scim/groups',
    success: 200,
    statuses: [404, 500],
    keys: KEYS,
    source: 'B2.5',
    uncaused: { 404: NO_MISSING_ROW },
  },
  'scim.start_sync': {
    method: 'post',
    path: '/scim/sync-jobs',
    success: 202,
    statuses: [404, 500],
    keys: KEYS,
    source: 'B2.5, C6',
    uncaused: { 404: NO_MISSING_ROW },
  },
  'scim.get_sync': {
    method: 'get',
    path: '/scim/sync-jobs/{id}',
    success: 200,
    statuses: [404, 500],
    keys: KEYS,
    source: 'B2.5',
    uncaused: {},
  },
}
