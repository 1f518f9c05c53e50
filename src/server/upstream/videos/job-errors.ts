import { VIDEO_ERROR_CHARS_MAX } from '../../../schemas/videos/video-limits.ts'
import type { VideoOrder } from '../../ports/videos/video-providers.ts'
import { readReason, type RedactedTexts } from '../reason.ts'

/** First word of the error of a failed job, for programs. */
export type JobErrorCode =
  | 'provider_refused'
  | 'provider_filtered'
  | 'provider_failed'
  | 'provider_key_refused'
  | 'provider_unavailable'
  | 'provider_answer_invalid'
  | 'provider_outcome_unknown'
  | 'reference_unusable'

/** Characters below which a prompt is not redacted: shorter ones occur in many sentences. */
const PROMPT_CHARS_MIN = 6

/** The error of a job: the code, then words without line breaks. */
export function jobError(code: JobErrorCode, words: string): string {
  return `${code}: ${words}`.slice(0, VIDEO_ERROR_CHARS_MAX)
}

/**
 * A provider's reason for the caller who ordered the video: without its host, the key, and the prompt, which must not
 * appear in errors. Null without a reason.
 * @param value the body of an error, as bytes or parsed
 */
export function reasonOf(
  value: unknown,
  { redacted, order }: { readonly redacted: RedactedTexts; readonly order: Pick<VideoOrder, 'request'> },
): string | null {
  const body = value instanceof Uint8Array ? value : written(value)
  const { prompt } = order.request
  const shown = prompt === null || prompt.length < PROMPT_CHARS_MIN ? body : withoutText(body, prompt)
  const { text, code } = readReason(shown, redacted)
  return text ?? code
}

/** The value as JSON; `null` when the value is nested too deep to be written. */
function written(value: unknown): Uint8Array {
  try {
    return Buffer.from(JSON.stringify(value ?? null))
  } catch {
    return Buffer.from('null')
  }
}

/**
 * Removes a text from a body, however the provider escaped it: the body is written as JSON again. A body that
 * is not JSON is never shown.
 */
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
