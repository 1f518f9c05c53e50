/** Signatures in members of forms that have no place for their format. Part D, mapping table. */
import type { Signature } from './prompt.ts'

/** Format of the signatures of each provider's own protocol, by which `@openrouter/sdk` knows them. */
export const SIGNATURE_FORMATS = {
  messages: 'anthropic-claude-v1',
  responses: 'openai-responses-v1',
  gemini: 'google-gemini-v1',
} as const

/** Stands for the format of a signature whose sender does not tell it. */
export const UNKNOWN_FORMAT = 'unknown'

/**
 * What a signature belongs to: reasoning that is shown, reasoning that is not (`redacted_thinking`), or the
 * call of a tool. In messages and in responses, whose calls have no signature, that of a call stands directly
 * behind its call as reasoning without a text.
 */
export type SignatureUse = 'reasoning' | 'redacted' | 'call'

export interface CarriedSignature {
  readonly signature: Signature
  readonly of: SignatureUse
}

/** A member that may have a signature. */
export interface SignaturePlace {
  /** The format that needs no words there. */
  readonly format: string
  /** What a signature belongs to there; absent: shown reasoning. */
  readonly of?: SignatureUse
}

/** `sl1.<format>.<data>`; behind the format stands what it belongs to, unless that is shown reasoning. */
const CARRIER = /^sl1\.([\w-]{1,64})(?:\+(redacted|call))?\.(.*)$/s
const FORMAT = /^[\w-]{1,64}$/

/** A signature as a member has it: its bytes where the member is its own place, else in a carrier. */
export function carriedSignature(
  { signature: { format, data }, of }: CarriedSignature,
  place: SignaturePlace,
): string {
  if (format === place.format && of === (place.of ?? 'reasoning')) return data
  const named = FORMAT.test(format) ? format : UNKNOWN_FORMAT
  return `sl1.${named}${of === 'reasoning' ? '' : `+${of}`}.${data}`
}

/** The signature that a member has. */
export function signatureOf(carried: string, place: SignaturePlace): CarriedSignature {
  const [, format, of, data] = CARRIER.exec(carried) ?? []
  if (format === undefined || data === undefined)
    return { signature: { format: place.format, data: carried }, of: place.of ?? 'reasoning' }
  return { signature: { format, data }, of: isUse(of) ? of : 'reasoning' }
}

function isUse(word: string | undefined): word is SignatureUse {
  return word === 'redacted' || word === 'call'
}
