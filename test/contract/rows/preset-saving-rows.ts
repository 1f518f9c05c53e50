import type { ContractRow } from '../contract-row.ts'

const SAVING = {
  method: 'post',
  success: 200,
  statuses: [400, 403, 404, 409, 500],
  keys: ['management'],
  uncaused: {},
} as const

/** Part of CONTRACT_ROWS. */
export const PRESET_SAVING_ROWS: Readonly<Record<string, ContractRow>> = {
  'presets.create_from_responses': { ...SAVING, path: '/presets/{slug}/responses', source: '§4.2, §7, B1.2' },
  'presets.create_from_chat': { ...SAVING, path: '/presets/{slug}/chat/completions', source: 'B2.2' },
  'presets.create_from_messages': { ...SAVING, path: '/presets/{slug}/messages', source: 'B2.2' },
}
