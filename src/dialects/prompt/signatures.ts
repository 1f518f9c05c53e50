/** Signatures in forms that have no member for the signature's format. Part D, mapping table. */
import type { Signature, AssistantPart } from './prompt.ts'
import type { MemberSpan } from '../../schemas/kept-body.ts'
import { isObject } from '../../schemas/values/members.ts'
import type { Dialect } from '../../schemas/inference/text-request.ts'

/** Format of the signatures of each provider's own protocol, by the names of `@openrouter/sdk`. */
export const SIGNATURE_FORMATS = {
  messages: 'anthropic-claude-v1',
  responses: 'openai-responses-v1',
  gemini: 'google-gemini-v1',
} as const

/** The format when the sender of a signature does not name it. */
export const UNKNOWN_FORMAT = 'unknown'

/**
 * The owner of a signature: visible reasoning, hidden reasoning (`redacted_thinking`), or a tool call. Calls
 * in messages and responses have no member for a signature, so it follows the call as reasoning without a
 * text.
 */
export type SignatureUse = 'reasoning' | 'redacted' | 'call'

export interface CarriedSignature {
  readonly signature: Signature
  readonly of: SignatureUse
}

export interface SignaturePlace {
  /** The format of signatures that are written without a carrier. */
  readonly format: string
  /** The owner of a signature in this place; absent: visible reasoning. */
  readonly of?: SignatureUse
}

/** Prefix of a carrier; a signature written without a carrier never begins with it. */
export const CARRIER_MARK = 'sl1.'
/** `sl1.<format>.<data>`; its owner follows the format, unless that is visible reasoning. */
const CARRIER = /^sl1\.([\w-]{1,64})(?:\+(redacted|call))?\.(.*)$/s
const FORMAT = /^[\w-]{1,64}$/
/**
 * Placeholder signature in an answer for reasoning that its provider did not sign. Providers that sign
 * reasoning refuse unsigned reasoning, and a caller who continues at such a provider would send it.
 */
export const UNSIGNED = `${CARRIER_MARK}unsigned.`

/**
 * A signature as written in an answer: unchanged if the member is for this format, otherwise in a carrier.
 * Bytes that look like a carrier are also put into one, since the provider may be another Sluice.
 */
export function carriedSignature(carried: CarriedSignature, place: SignaturePlace): string {
  const { data } = carried.signature
  return isOwn(carried, place) && !data.startsWith(CARRIER_MARK) ? data : carrierOf(carried)
}

/** As `carriedSignature`, for a request: a provider receives exactly the bytes that it sent. */
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

/** Null: no signature, or a format that the endpoint does not accept. */
export function takenBack(
  signature: Signature | null,
  { signatureFormats }: { readonly signatureFormats: readonly string[] },
): Signature | null {
  return signature !== null && signatureFormats.includes(signature.format) ? signature : null
}

/**
 * A part, or the signature of the call before it: in forms whose calls have no signature, it follows the
 * call. Part D, mapping table.
 */
export type ReadPart = AssistantPart | { readonly kind: 'call_signature'; readonly signature: Signature }

const NO_TEXT = {
  kind: 'reasoning',
  text: '',
  isSummary: false,
  isRedacted: false,
  id: null,
  cache: null,
} as const

/**
 * Assigns signatures to calls. A signature after a call belongs to that call. A signature without an earlier
 * call was moved by a form that puts reasoning first; it belongs to the next call.
 */
export function withCallSignatures(parts: readonly ReadPart[]): readonly AssistantPart[] {
  const read: AssistantPart[] = []
  const early: Signature[] = []
  let at = -1
  for (const part of parts) {
    const call = read[at]
    if (part.kind === 'call') {
      at = read.length
      read.push({ ...part, signature: part.signature ?? early.shift() ?? null })
    } else if (part.kind !== 'call_signature') read.push(part)
    else if (call?.kind === 'call') read[at] = { ...call, signature: part.signature }
    else early.push(part.signature)
  }
  // Signatures whose calls are missing.
  return [...early.map((signature) => ({ ...NO_TEXT, signature })), ...read]
}

interface CarriedReasoning {
  readonly text: string
  readonly isSummary: boolean
  readonly id: string | null
}

/** Reasoning with the signature that a member carries. */
export function signedReasoning(
  reasoning: CarriedReasoning,
  carried: CarriedSignature | null,
): readonly ReadPart[] {
  if (carried?.of === 'call') return [{ kind: 'call_signature', signature: carried.signature }]
  if (reasoning.text === '' && carried === null) return []
  const signature = carried?.signature ?? null
  const isRedacted = carried?.of === 'redacted'
  return [{ kind: 'reasoning', ...reasoning, signature, isRedacted, cache: null }]
}

/** Parts of a request that its provider would refuse. */
export interface ForeignParts {
  /** List items to cut, in order, in the form that is used to cut members of an object. */
  readonly cuts: readonly MemberSpan[]
  /** After the cuts, the last step calls tools and does not begin with reasoning: Anthropic does not reason further in such a step. */
  readonly isStepBare: boolean
}

/**
 * How to treat reasoning without its encrypted part when the provider stores nothing: OpenAI refuses it;
 * other servers accept it if it has a text.
 */
export type BareReasoning = 'kept' | 'cut' | 'cut without text'

/** Beginning of a signature of another provider, as a JSON text; a signature in the endpoint's own format has no carrier. */
const CARRIER_BYTES = Buffer.from(`"${CARRIER_MARK}`)

/** Whether bytes may contain such a signature; true also for a text that quotes one. */
export function hasCarrier({ buffer, byteOffset, length }: Uint8Array): boolean {
  return Buffer.from(buffer, byteOffset, length).includes(CARRIER_BYTES)
}

/** Whether a body may have a carrier. Chat needs none: its members name the format. */
export function mayCarryForeign(dialect: Dialect, body: Uint8Array): boolean {
  return dialect !== 'chat' && hasCarrier(body)
}

/** A block of thinking, or an item of reasoning, whose signature is in a carrier. */
export function isForeign(one: unknown): boolean {
  if (!isObject(one)) return false
  const { type, signature, data, encrypted_content: encrypted } = one
  if (type === 'thinking') return isCarrier(signature)
  if (type === 'redacted_thinking') return isCarrier(data)
  return type === 'reasoning' && isCarrier(encrypted)
}

function isCarrier(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(CARRIER_MARK)
}
