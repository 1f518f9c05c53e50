import type { ContractRow } from '../contract-row.ts'

const WRITES = {
  method: 'post',
  success: 200,
  statuses: [400, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 524, 529],
  keys: ['inference', 'intern'],
  source: 'D1–D3',
  uncaused: { 422: "a provider's 422 is told as 400" },
} as const

/** Part of CONTRACT_ROWS: calls of models that write. */
export const INFERENCE_ROWS: Readonly<Record<string, ContractRow>> = {
  'chat.create': { ...WRITES, path: '/chat/completions' },
  'messages.create': { ...WRITES, path: '/messages' },
  'messages.count_tokens': {
    ...WRITES,
    path: '/messages/count_tokens',
    uncaused: { ...WRITES.uncaused, 402: 'a count costs nothing' },
  },
  'responses.create': { ...WRITES, path: '/responses' },
}
