import type { ContractRow } from './contract-row.ts'

const NO_BODY = 'it takes no body that could be slow'
const SLOW_BODY = 'shown by the tests of bodies, for every operation with one'
const FAILED_CHECKS = 'failed checks are 200'

/** Part of CONTRACT_ROWS. */
export const PRIVATE_ENDPOINT_ROWS: Readonly<Record<string, ContractRow>> = {
  'private_endpoints.list': {
    method: 'get',
    path: '/private-endpoints',
    success: 200,
    statuses: [403, 408, 500],
    keys: ['management'],
    source: 'B2.6',
    uncaused: { 408: NO_BODY },
  },
  'private_endpoints.create': {
    method: 'post',
    path: '/private-endpoints',
    success: 201,
    statuses: [400, 403, 404, 408, 409, 422, 500, 502],
    keys: ['management'],
    source: 'B2.6, C6',
    uncaused: {},
  },
  'private_endpoints.get': {
    method: 'get',
    path: '/private-endpoints/{id}',
    success: 200,
    statuses: [403, 404, 408, 500],
    keys: ['management'],
    source: 'B2.6',
    uncaused: { 408: NO_BODY },
  },
  'private_endpoints.update': {
    method: 'patch',
    path: '/private-endpoints/{id}',
    success: 200,
    statuses: [400, 403, 404, 408, 409, 422, 500],
    keys: ['management'],
    source: 'B2.6, with 400 for its body (C2)',
    uncaused: { 408: SLOW_BODY },
  },
  'private_endpoints.delete': {
    method: 'delete',
    path: '/private-endpoints/{id}',
    success: 200,
    statuses: [400, 403, 404, 408, 409, 422, 500, 502],
    keys: ['management'],
    source: 'B2.6',
    uncaused: { 408: NO_BODY, 422: 'nothing is sent that could be invalid', 502: 'nothing is probed' },
  },
  'private_endpoints.validate': {
    method: 'post',
    path: '/private-endpoints/{id}/validate',
    success: 200,
    statuses: [400, 403, 404, 408, 409, 422, 500, 502],
    keys: ['management'],
    source: 'B2.6',
    uncaused: { 408: SLOW_BODY, 422: FAILED_CHECKS, 502: FAILED_CHECKS },
  },
  'private_endpoints.activate': {
    method: 'post',
    path: '/private-endpoints/{id}/activate',
    success: 200,
    statuses: [400, 403, 404, 408, 409, 422, 500, 502],
    keys: ['management'],
    source: '§4.10, §7 private endpoint activate, B1.10, C28',
    uncaused: { 400: 'nothing is sent that could be malformed' },
  },
  'private_endpoints.disable': {
    method: 'post',
    path: '/private-endpoints/{id}/disable',
    success: 200,
    statuses: [403, 404, 409, 500],
    keys: ['management'],
    source: 'B2.6; the statuses of a read, and 409',
    uncaused: {},
  },
  'private_endpoints.enable': {
    method: 'post',
    path: '/private-endpoints/{id}/enable',
    success: 200,
    statuses: [403, 404, 409, 500],
    keys: ['management'],
    source: 'B2.6; the statuses of a read, and 409',
    uncaused: {},
  },
  'private_endpoints.set_pricing': {
    method: 'put',
    path: '/private-endpoints/{id}/pricing',
    success: 200,
    statuses: [400, 403, 404, 500],
    keys: ['management'],
    source: 'B2.6; the statuses of a read, and 400',
    uncaused: {},
  },
}
