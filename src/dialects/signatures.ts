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

/** Begins a carrier, and never a signature that stands in its own place. */
export const CARRIER_MARK = 'sl1.'
/** `sl1.<format>.<data>`; behind the format stands what it belongs to, unless that is shown reasoning. */
const CARRIER = /^sl1\.([\w-]{1,64})(?:\+(redacted|call))?\.(.*)$/s
const FORMAT = /^[\w-]{1,64}$/
/**
 * Stands in an answer for the signature of reasoning that its provider has not signed: a provider that signs
 * its own refuses reasoning without one, and would get it from a caller who goes on there.
 */
export const UNSIGNED = `${CARRIER_MARK}unsigned.`

/**
 * A signature as a member of an answer has it: its bytes where the member is its own place, else in a carrier.
 * Bytes that could be read as a carrier are in one, too: another Sluice may be the provider.
 */
export function carriedSignature(carried: CarriedSignature, place: SignaturePlace): string {
  const { data } = carried.signature
  return isOwn(carried, place) && !data.startsWith(CARRIER_MARK) ? data : carrierOf(carried)
}

/** The same in a request: a provider gets the bytes that it gave, whatever they are. */
export function returnedSignature(carried: CarriedSignature, place: SignaturePlace): string {
  return isOwn(carried, place) ? carried.signature.data : carrierOf(carried)
}

function isOwn({ signature: { format }, of }: CarriedSignature, place: SignaturePlace): boolean {
  return format === place.format && of === (place.of ?? 'reasoning')
}

function carrierOf({ signature: { format, data }, of }: CarriedSignature): string {
  const named = FORMAT.test(format) ? format : UNKNOWN_FORMAT
  return `${CARRIER_MARK}${named}${of === 'reasoning' ? '' : `+${of}`}.${data}`
}

/** The signature that a member has; null: the reasoning has none. */
export function signatureOf(carried: string, place: SignaturePlace): CarriedSignature | null {
  if (carried === '' || carried === UNSIGNED) return null
  const [, format, of, data] = CARRIER.exec(carried) ?? []
  if (format === undefined || data === undefined)
    return { signature: { format: place.format, data: carried }, of: place.of ?? 'reasoning' }
  return { signature: { format, data }, of: isUse(of) ? of : 'reasoning' }
}

function isUse(word: string | undefined): word is SignatureUse {
  return word === 'redacted' || word === 'call'
}

/** Null: there is none, or one of a format that the endpoint does not take back. */
export function takenBack(
  signature: Signature | null,
  { signatureFormats }: { readonly signatureFormats: readonly string[] },
): Signature | null {
  return signature !== null && signatureFormats.includes(signature.format) ? signature : null
}
