import type { Failure } from '../../../../schemas/failures.ts'
import type { FinishReason } from '../../../../dialects/parts.ts'

/** Gemini's words for an answer that a filter ended. */
const FILTERED = new Set([
  'SAFETY',
  'RECITATION',
  'LANGUAGE',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'MODEL_ARMOR',
  'IMAGE_SAFETY',
  'IMAGE_PROHIBITED_CONTENT',
  'IMAGE_RECITATION',
])

/** Words for an answer that went wrong, of which the text that came is a part, or nothing. */
const FAILED = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
  'MISSING_THOUGHT_SIGNATURE',
  'OTHER',
  'NO_IMAGE',
  'IMAGE_OTHER',
])

/** Stands for no word: the answer goes on. */
const UNSPECIFIED = 'FINISH_REASON_UNSPECIFIED'

export type GeminiFinish =
  | { readonly kind: 'none' }
  | { readonly kind: 'finish'; readonly reason: FinishReason }
  | { readonly kind: 'failure'; readonly failure: Failure }

/**
 * What a `finishReason` says. Words that come later mean a stop: as failures they would break every answer.
 * @param hasCalls the model called tools, for which Gemini has no word of its own
 */
export function geminiFinish(native: string, hasCalls: boolean): GeminiFinish {
  if (native === UNSPECIFIED) return { kind: 'none' }
  if (FAILED.has(native)) {
    return {
      kind: 'failure',
      failure: { name: 'upstream_failed', detail: `The answer ended with ${native}.` },
    }
  }
  if (FILTERED.has(native)) return { kind: 'finish', reason: 'content_filter' }
  if (native === 'MAX_TOKENS') return { kind: 'finish', reason: 'length' }
  return { kind: 'finish', reason: hasCalls ? 'tool_calls' : 'stop' }
}
