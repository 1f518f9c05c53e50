import type { ContractRow } from '../contract-row.ts'

const KEYS = ['inference', 'intern'] as const

/** Part of CONTRACT_ROWS. */
export const VIDEO_ROWS: Readonly<Record<string, ContractRow>> = {
  'video.create': {
    method: 'post',
    path: '/videos',
    success: 202,
    statuses: [400, 402, 404, 429, 500],
    keys: KEYS,
    source: '§4.1, §7 video submission, B1.1, C6',
    uncaused: {},
  },
  'video.get': {
    method: 'get',
    path: '/videos/{job_id}',
    success: 200,
    statuses: [403, 404, 500],
    keys: KEYS,
    source: 'B2.1',
    uncaused: {},
  },
  'video.get_content': {
    method: 'get',
    path: '/videos/{job_id}/content',
    success: 200,
    statuses: [400, 403, 404, 409, 410, 500, 502],
    keys: KEYS,
    source: 'B2.1, C27',
    uncaused: { 409: 'what is not completed is 400', 502: 'a clip is read from our own storage' },
  },
  'video.list': {
    method: 'get',
    path: '/videos',
    success: 200,
    statuses: [400, 403, 500],
    keys: KEYS,
    source: 'our extension: C27',
    uncaused: {},
  },
  'video.cancel': {
    method: 'delete',
    path: '/videos/{job_id}',
    success: 200,
    statuses: [400, 403, 404, 500],
    keys: KEYS,
    source: 'our extension: C27',
    uncaused: {},
  },
  'video.list_models': {
    method: 'get',
    path: '/videos/models',
    success: 200,
    statuses: [400, 500],
    keys: ['inference', 'management', 'intern'],
    source: 'B2.1',
    uncaused: { 400: 'it takes nothing that could be malformed' },
  },
}
