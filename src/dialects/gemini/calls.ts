import { membersOf } from '../../schemas/values/members.ts'
import { countOf } from '../usage.ts'

/** In which Google's API reports the tier of an answer. */
export const GEMINI_TIER_HEADER = 'x-gemini-service-tier'

/** Paths of one model's calls in Google's API, below the base address. */
export interface GeminiPaths {
  readonly whole: string
  /** Without the query the answer would be one list. */
  readonly streamed: string
  readonly count: string
}

/** @param upstreamModel such as `gemini-2.5-pro` */
export function geminiPaths(upstreamModel: string): GeminiPaths {
  const model = `/models/${encodeURIComponent(upstreamModel)}`
  return {
    whole: `${model}:generateContent`,
    streamed: `${model}:streamGenerateContent?alt=sse`,
    count: `${model}:countTokens`,
  }
}

/** Google's count of the tokens of a prompt as callers of messages read it. @returns null: the answer has no count */
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
