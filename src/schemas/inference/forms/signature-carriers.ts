import type { Signature } from './prompt.ts'

/**
 * What a signature belongs to: reasoning that is shown, reasoning that is not (`redacted_thinking`), or the
 * call of a tool.
 */
export type SignatureUse = 'reasoning' | 'redacted' | 'call'

export interface CarriedSignature {
  readonly signature: Signature
  readonly of: SignatureUse
}

/** Formats of the signatures that a protocol gives by itself. The names are those of `ReasoningFormat`. */
export const MESSAGES_FORMAT = 'anthropic-claude-v1'
export const RESPONSES_FORMAT = 'openai-responses-v1'
/** Stands for a format that a provider does not tell. */
export const UNKNOWN_FORMAT = 'unknown'

/** `sl1.<format>.<data>`; behind the format stands what it belongs to, unless that is shown reasoning. */
const CARRIER = /^sl1\.([\w-]{1,64})(?:\+(redacted|call))?\.(.*)$/s
const FORMAT = /^[\w-]{1,64}$/

/**
 * A signature as the member of a dialect that has no place for its format. One of the dialect's own format is
 * its bytes. The mapping table of part D.
 * @param ownFormat of the dialect
 * @param placeOf what a signature in this member belongs to by itself
 */
export function carrierOf(
  { signature: { format, data }, of }: CarriedSignature,
  ownFormat: string,
  placeOf: SignatureUse = 'reasoning',
): string {
  if (format === ownFormat && of === placeOf) return data
  const named = FORMAT.test(format) ? format : UNKNOWN_FORMAT
  return `sl1.${named}${of === 'reasoning' ? '' : `+${of}`}.${data}`
}

/** What `carrierOf` was given. */
export function carriedBy(
  text: string,
  ownFormat: string,
  placeOf: SignatureUse = 'reasoning',
): CarriedSignature {
  const [, format, of, data] = CARRIER.exec(text) ?? []
  if (format === undefined || data === undefined)
    return { signature: { format: ownFormat, data: text }, of: placeOf }
  return { signature: { format, data }, of: isUse(of) ? of : 'reasoning' }
}

function isUse(word: string | undefined): word is SignatureUse {
  return word === 'redacted' || word === 'call'
}
