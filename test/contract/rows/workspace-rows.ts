import type { ContractRow } from '../contract-row.ts'

const STATUSES = [400, 403, 404, 500] as const

/** Part of CONTRACT_ROWS. */
export const WORKSPACE_ROWS: Readonly<Record<string, ContractRow>> = {
  'workspaces.list': {
    method: 'get',
    path: '/workspaces',
    success: 200,
    statuses: [500],
    keys: ['management'],
    source: 'B2.9',
    uncaused: {},
  },
  'workspaces.create': {
    method: 'post',
    path: '/workspaces',
    success: 201,
    statuses: [400, 403, 500],
    keys: ['management'],
    source: 'B2.9, C6, C16',
    uncaused: {},
  },
  'workspaces.get': {
    method: 'get',
    path: '/workspaces/{id}',
    success: 200,
    statuses: STATUSES,
    keys: ['management'],
    source: 'B2.9',
    uncaused: {},
  },
  'workspaces.update': {
    method: 'patch',
    path: '/workspaces/{id}',
    success: 200,
    statuses: STATUSES,
    keys: ['management'],
    source: 'B2.9',
    uncaused: {},
  },
  'workspaces.delete': {
    method: 'delete',
    path: '/workspaces/{id}',
    success: 200,
    statuses: STATUSES,
    keys: ['management'],
    source: 'B2.9',
    uncaused: {},
  },
  'workspaces.list_members': {
    method: 'get',
    path: '/workspaces/{workspace_ref}/members',
    success: 200,
    statuses: STATUSES,
    keys: ['management'],
    source: 'an extension of B2.9',
    uncaused: {},
  },
}
