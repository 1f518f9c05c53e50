import type { ContractRow } from '../contract-row.ts'

const READ = [400, 404, 500] as const
const CHANGE = [400, 403, 404, 409, 500] as const
const READERS = ['management', 'inference', 'intern'] as const

/** Part of CONTRACT_ROWS. */
export const PRESET_ROWS: Readonly<Record<string, ContractRow>> = {
  'presets.list': {
    method: 'get',
    path: '/presets',
    success: 200,
    statuses: [400, 500],
    keys: READERS,
    source: 'B2.2, C4, C5',
    uncaused: {},
  },
  'presets.get': {
    method: 'get',
    path: '/presets/{slug}',
    success: 200,
    statuses: READ,
    keys: READERS,
    source: 'B2.2, C4, C5',
    uncaused: {},
  },
  'presets.list_versions': {
    method: 'get',
    path: '/presets/{slug}/versions',
    success: 200,
    statuses: READ,
    keys: READERS,
    source: 'B2.2, C4, C5',
    uncaused: {},
  },
  'presets.get_version': {
    method: 'get',
    path: '/presets/{slug}/versions/{version}',
    success: 200,
    statuses: READ,
    keys: READERS,
    source: 'B2.2, C4, C5',
    uncaused: {},
  },
  'presets.diff': {
    method: 'get',
    path: '/presets/{slug}/diff',
    success: 200,
    statuses: READ,
    keys: READERS,
    source: 'an extension of B2.2',
    uncaused: {},
  },
  'presets.designate': {
    method: 'post',
    path: '/presets/{slug}/designate',
    success: 200,
    statuses: CHANGE,
    keys: ['management'],
    source: 'an extension of B2.2, C20',
    uncaused: {},
  },
  'presets.archive': {
    method: 'post',
    path: '/presets/{slug}/archive',
    success: 200,
    statuses: CHANGE,
    keys: ['management'],
    source: 'an extension of B2.2, C20',
    uncaused: {},
  },
}
