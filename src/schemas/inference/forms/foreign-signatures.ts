/** Signatures of other providers in a request that goes out as its bytes came. Part D, mapping table. */
import type { MemberSpan } from '../../kept-body.ts'
import { isObject } from '../../values/members.ts'
import type { Dialect } from '../text-request.ts'
import { CARRIER_MARK } from '../../../dialects/signatures.ts'

/** What of a request its provider would refuse. */
export interface ForeignParts {
  /** Items of lists, in their order, each as a member of an object is cut. */
  readonly cuts: readonly MemberSpan[]
  /** The last step calls tools, and begins without a thought then: Anthropic thinks no further in it. */
  readonly isStepBare: boolean
}

/**
 * What becomes of items of reasoning without what they are encrypted by, where a provider stores nothing:
 * OpenAI refuses them, and other servers want those that have a text. D8.
 */
export type BareReasoning = 'kept' | 'cut' | 'cut without text'

/** Where a signature of another provider begins, as a JSON text: that of an endpoint's own format has no carrier. */
const CARRIER_BYTES = Buffer.from(`"${CARRIER_MARK}`)

/** Whether bytes may have such a signature; also a text that quotes one counts. */
export function hasCarrier({ buffer, byteOffset, length }: Uint8Array): boolean {
  return Buffer.from(buffer, byteOffset, length).includes(CARRIER_BYTES)
}

/** Whether a body may have one. Chat names the format beside it. */
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
