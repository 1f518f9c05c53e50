import type { ContractRow } from '../contract-row.ts'

/** Part of CONTRACT_ROWS. */
export const AUDIT_ROWS: Readonly<Record<string, ContractRow>> = {
  'audit.list': {
    method: 'get',
    path: '/audit',
    success: 200,
    statuses: [400, 403, 404, 500],
    keys: ['management'],
    source: 'our extension: C4; the statuses of activity',
    uncaused: {},
  },
  'requests.list': {
    method: 'get',
    path: '/admin/requests',
    success: 200,
    statuses: [400, 403, 404, 500, 503],
    keys: ['management'],
    source: 'our extension: C4; the statuses of the audit log, and 503 for searches that find no turn',
    uncaused: {},
  },
}
