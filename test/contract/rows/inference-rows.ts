import type { ContractRow } from '../contract-row.ts'

const WRITES = {
  method: 'post',
  success: 200,
  statuses: [400, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 524, 529],
  keys: ['inference', 'intern'],
  source: 'D1–D3',
} as const
const NO_PROVIDER = 'the built-in model asks no provider'
const NOT_PASSED_ON = "a provider's 422 is told as 400"

/** Part of CONTRACT_ROWS: calls of models that write. */
export const INFERENCE_ROWS: Readonly<Record<string, ContractRow>> = {
  'chat.create': {
    ...WRITES,
    path: '/chat/completions',
    uncaused: { 422: NO_PROVIDER, 502: NO_PROVIDER, 529: NO_PROVIDER },
  },
  'messages.create': {
    ...WRITES,
    path: '/messages',
    uncaused: { 422: NOT_PASSED_ON },
  },
  'messages.count_tokens': {
    ...WRITES,
    path: '/messages/count_tokens',
    uncaused: { 402: 'a count costs nothing', 422: NOT_PASSED_ON },
  },
  'responses.create': {
    ...WRITES,
    path: '/responses',
    uncaused: { 422: NO_PROVIDER, 502: NO_PROVIDER, 529: NO_PROVIDER },
  },
}
