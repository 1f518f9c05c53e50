import type { ContractRow } from './contract-rows.ts'

const BUDGET = '/workspaces/{workspace_ref}/budgets/{interval}'

/** Part of CONTRACT_ROWS. */
export const MONEY_ROWS: Readonly<Record<string, ContractRow>> = {
  'budgets.list': {
    method: 'get', path: '/workspaces/{workspace_ref}/budgets', success: 200, statuses: [404, 500],
    keys: ['management'], source: 'B2.9', uncaused: {},
  },
  'budgets.get': {
    method: 'get', path: BUDGET, success: 200, statuses: [400, 404, 500],
    keys: ['management'], source: '§4.12, §7 workspace budget read, B1.14', uncaused: {},
  },
  'budgets.put': {
    method: 'put', path: BUDGET, success: 200, statuses: [400, 404, 500],
    keys: ['management'], source: 'B2.9', uncaused: {},
  },
  'budgets.delete': {
    method: 'delete', path: BUDGET, success: 200, statuses: [400, 404, 500],
    keys: ['management'], source: 'B2.9', uncaused: {},
  },
  'credits.get': {
    method: 'get', path: '/credits', success: 200, statuses: [400, 403, 500],
    keys: ['management'], source: 'B2.10; 400 with a query: C32', uncaused: {},
  },
  'credits.add': {
    method: 'post', path: '/credits', success: 200, statuses: [400, 403, 500],
    keys: ['management'], source: 'our extension: C6, C16; the statuses of the read, and 400', uncaused: {},
  },
  'caps.get': {
    method: 'get', path: '/caps', success: 200, statuses: [400, 403, 404, 500], keys: ['management'], source: 'our extension: C32, C33', uncaused: {},
  },
  'caps.update': {
    method: 'patch', path: '/caps', success: 200, statuses: [400, 403, 404, 500], keys: ['management'], source: 'our extension: C32, C33', uncaused: {},
  },
  'activity.list': {
    method: 'get', path: '/activity', success: 200, statuses: [400, 403, 404, 500],
    keys: ['management'], source: 'our extension', uncaused: {},
  },
}
