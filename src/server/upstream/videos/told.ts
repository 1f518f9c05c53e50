import { VIDEO_ERROR_CHARS_MAX } from '../../../schemas/videos/video-limits.ts'
import type { VideoOrder } from '../../ports/videos/video-providers.ts'
import { readReason, type Struck } from '../reason.ts'

/** First words of what a failed job says, for programs. */
export type ToldCode =
  | 'provider_refused'
  | 'provider_filtered'
  | 'provider_failed'
  | 'provider_key_refused'
  | 'provider_unavailable'
  | 'provider_answer_invalid'
  | 'provider_outcome_unknown'
  | 'reference_unusable'

/** Prompts that are shorter stand in many a sentence. */
const PROMPT_CHARS_MIN = 6

/** What a job says about its provider: the code, then words without line breaks. */
export function told(code: ToldCode, words: string): string {
  return `${code}: ${words}`.slice(0, VIDEO_ERROR_CHARS_MAX)
}

/**
 * What a provider says, for the eyes of who asked for the video: without its host, the key, and the prompt,
 * which belongs into no error. Null when it says nothing.
 * @param value the body of an error, as bytes or parsed
 */
export function reasonOf(
  value: unknown,
  { struck, order }: { readonly struck: Struck; readonly order: Pick<VideoOrder, 'request'> },
): string | null {
  const body = value instanceof Uint8Array ? value : written(value)
  const { prompt } = order.request
  const shown = prompt === null || prompt.length < PROMPT_CHARS_MIN ? body : withoutText(body, prompt)
  const { text, code } = readReason(shown, struck)
  return text ?? code
}

/** What is nested too deep to be written again is not told. */
function written(value: unknown): Uint8Array {
  try {
    return Buffer.from(JSON.stringify(value ?? null))
  } catch {
    return Buffer.from('null')
  }
}

/** As JSON writes it, whichever way the provider escaped it: what is no JSON is not told anyway. */
function withoutText(body: Uint8Array, text: string): Uint8Array {
  const json = rewritten(Buffer.from(body.buffer, body.byteOffset, body.length).toString())
  return Buffer.from(json.replaceAll(JSON.stringify(text).slice(1, -1), '[…]').replaceAll(text, '[…]'))
}

function rewritten(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json))
  } catch {
    return ''
  }
}
