import type { ContractRow } from '../contract-row.ts'

const KEYS = ['management'] as const
const SOURCE = 'our extension: C4'

/** Part of CONTRACT_ROWS. */
export const ADMIN_ROWS: Readonly<Record<string, ContractRow>> = {
  'admin.get_session': {
    method: 'get',
    path: '/admin/session',
    success: 200,
    statuses: [403, 500],
    keys: KEYS,
    source: SOURCE,
    uncaused: {},
  },
  'admin.get_history': {
    method: 'get',
    path: '/admin/history',
    success: 200,
    statuses: [400, 403, 500],
    keys: KEYS,
    source: SOURCE,
    uncaused: {},
  },
  'admin.list_jobs': {
    method: 'get',
    path: '/admin/jobs',
    success: 200,
    statuses: [400, 403, 404, 500],
    keys: KEYS,
    source: SOURCE,
    uncaused: {},
  },
  'admin.get_job': {
    method: 'get',
    path: '/admin/jobs/{job_id}',
    success: 200,
    statuses: [403, 404, 500],
    keys: KEYS,
    source: SOURCE,
    uncaused: {},
  },
  'admin.get_job_content': {
    method: 'get',
    path: '/admin/jobs/{job_id}/content',
    success: 200,
    statuses: [400, 403, 404, 410, 500],
    keys: KEYS,
    source: `${SOURCE}; the statuses of video.get_content that have a cause`,
    uncaused: {},
  },
  'admin.list_webhooks': {
    method: 'get',
    path: '/admin/webhooks',
    success: 200,
    statuses: [400, 403, 404, 500],
    keys: KEYS,
    source: SOURCE,
    uncaused: {},
  },
  'admin.replay_webhook': {
    method: 'post',
    path: '/admin/webhooks/{id}/replay',
    success: 200,
    statuses: [403, 404, 409, 500],
    keys: KEYS,
    source: SOURCE,
    uncaused: {},
  },
  'admin.replay_dead_webhooks': {
    method: 'post',
    path: '/admin/webhooks/replay',
    success: 200,
    statuses: [400, 403, 404, 500],
    keys: KEYS,
    source: SOURCE,
    uncaused: {},
  },
  'admin.get_storage': {
    method: 'get',
    path: '/admin/storage',
    success: 200,
    statuses: [400, 403, 500],
    keys: KEYS,
    source: SOURCE,
    uncaused: {},
  },
}
