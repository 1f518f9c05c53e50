import { membersOf } from '../../../schemas/values/members.ts'
import { countOf } from './text-usage.ts'

/**
 * Google's count of the tokens of a prompt as callers of messages read it.
 * @returns null: the answer has no count
 */
export function geminiCount(body: Uint8Array): Uint8Array | null {
  const tokens = countOf(parsed(body)['totalTokens'])
  return tokens === null ? null : Buffer.from(JSON.stringify({ input_tokens: tokens }))
}

function parsed(body: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return membersOf(JSON.parse(Buffer.from(body).toString()))
  } catch {
    return {}
  }
}
