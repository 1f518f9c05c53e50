import type { ContractRow } from './contract-rows.ts'

/** Part of CONTRACT_ROWS. */
export const KEY_ROWS: Readonly<Record<string, ContractRow>> = {
  'keys.list': {
    method: 'get', path: '/keys', success: 200, statuses: [400, 429, 500], keys: ['management'], source: 'B2.10', uncaused: {},
  },
  'keys.create': {
    method: 'post', path: '/keys', success: 201, statuses: [400, 403, 404, 429, 500], keys: ['management'], source: 'B2.10, C6, C34', uncaused: {},
  },
  'keys.get': {
    method: 'get', path: '/keys/{hash}', success: 200, statuses: [404, 429, 500], keys: ['management'], source: 'B2.10', uncaused: {},
  },
  'keys.update': {
    method: 'patch', path: '/keys/{hash}', success: 200, statuses: [400, 404, 429, 500], keys: ['management'], source: 'B2.10', uncaused: {},
  },
  'keys.delete': {
    method: 'delete', path: '/keys/{hash}', success: 200, statuses: [404, 429, 500], keys: ['management'], source: 'B2.10', uncaused: {},
  },
  'keys.rotate': {
    method: 'post', path: '/keys/{hash}/rotate', success: 200, statuses: [400, 404, 429, 500], keys: ['management'],
    source: 'our extension: C6; the statuses of keys.update', uncaused: {},
  },
  'keys.get_current': {
    method: 'get', path: '/key', success: 200, statuses: [500], keys: ['inference', 'management', 'intern'], source: 'B2.10, C4', uncaused: {},
  },
}
