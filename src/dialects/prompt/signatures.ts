/** Signatures in members of forms that have no place for their format. Part D, mapping table. */
import type { Signature, AssistantPart } from './prompt.ts'
import type { MemberSpan } from '../../schemas/kept-body.ts'
import { isObject } from '../../schemas/values/members.ts'
import type { Dialect } from '../../schemas/inference/text-request.ts'

/** Format of the signatures of each provider's own protocol, by which `@openrouter/sdk` knows them. */
export const SIGNATURE_FORMATS = {
  messages: 'anthropic-claude-v1',
  responses: 'openai-responses-v1',
  gemini: 'google-gemini-v1',
} as const

/** Stands for the format of a signature whose sender does not name it. */
export const UNKNOWN_FORMAT = 'unknown'

/**
 * The owner of a signature: visible reasoning, hidden reasoning (`redacted_thinking`), or a tool call. Calls
 * in messages and responses have no signature: there it follows the call as reasoning without a text.
 */
export type SignatureUse = 'reasoning' | 'redacted' | 'call'

export interface CarriedSignature {
  readonly signature: Signature
  readonly of: SignatureUse
}

export interface SignaturePlace {
  /** The format that needs no words there. */
  readonly format: string
  /** What a signature belongs to there; absent: shown reasoning. */
  readonly of?: SignatureUse
}

/** Begins a carrier, and never a signature that stands in its own place. */
export const CARRIER_MARK = 'sl1.'
/** `sl1.<format>.<data>`; its owner follows the format, unless that is visible reasoning. */
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

/** Null: no signature, or a format that the endpoint does not take back. */
export function takenBack(
  signature: Signature | null,
  { signatureFormats }: { readonly signatureFormats: readonly string[] },
): Signature | null {
  return signature !== null && signatureFormats.includes(signature.format) ? signature : null
}

/**
 * A part, or the signature of the call before it: forms whose calls have no signature carry it after the
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
 * Assigns signatures to calls. A signature after a call belongs to that call. One with no call before it was
 * moved by a form that puts reasoning first, and belongs to the next call.
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
  // Signatures of calls that are not there.
  return [...early.map((signature) => ({ ...NO_TEXT, signature })), ...read]
}

interface CarriedReasoning {
  readonly text: string
  readonly isSummary: boolean
  readonly id: string | null
}

/** Reasoning with what a member carries. */
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

/** What of a request its provider would refuse. */
export interface ForeignParts {
  /** Items of lists, in their order, each as a member of an object is cut. */
  readonly cuts: readonly MemberSpan[]
  /** The last step calls tools, and begins without a thought then: Anthropic thinks no further in it. */
  readonly isStepBare: boolean
}

/** For reasoning without its encrypted part where a provider stores nothing: OpenAI refuses it, and other servers want it if it has a text. */
export type BareReasoning = 'kept' | 'cut' | 'cut without text'

/** Where a signature of another provider begins, as a JSON text: that of an endpoint's own format has no carrier. */
const CARRIER_BYTES = Buffer.from(`"${CARRIER_MARK}`)

/** Whether bytes may have such a signature; also a text that quotes one counts. */
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
