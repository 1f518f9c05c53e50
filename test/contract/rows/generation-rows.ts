import type { ContractRow } from '../contract-row.ts'

const READ = {
  method: 'get',
  statuses: [400, 402, 403, 404, 429, 500],
  keys: ['inference', 'intern', 'management'],
} as const
const NO_MONEY = { 402: 'a read costs nothing' } as const

/** Part of CONTRACT_ROWS. */
export const GENERATION_ROWS: Readonly<Record<string, ContractRow>> = {
  'generations.read': {
    ...READ,
    path: '/generation',
    success: 200,
    source: 'D2, D3, D33; 400 without an id',
    uncaused: NO_MONEY,
  },
  'generations.content': {
    ...READ,
    path: '/generation/content',
    success: 404,
    source: 'D2, D3, D33; 400 without an id',
    uncaused: NO_MONEY,
  },
}
