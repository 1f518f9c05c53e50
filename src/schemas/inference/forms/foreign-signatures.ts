/** Signatures of other providers in a request that goes out as its bytes came. Part D, mapping table. */
import { isObject, membersOf, type Members } from '../../values/members.ts'
import type { Dialect } from '../text-request.ts'

/** Where a signature of another provider begins, as a JSON text: that of an endpoint's own format has no carrier. */
const CARRIER = 'sl1.'
const CARRIER_BYTES = Buffer.from(`"${CARRIER}`)

/** Whether a body may have such a signature; also a text that quotes one counts. Chat names the format beside it. */
export function mayCarryForeign(dialect: Dialect, { buffer, byteOffset, length }: Uint8Array): boolean {
  return dialect !== 'chat' && Buffer.from(buffer, byteOffset, length).includes(CARRIER_BYTES)
}

/**
 * The body without reasoning that another provider signed, which an endpoint would refuse. All else stays.
 * @param body JSON that has passed the schema of the dialect
 * @returns null: it has none
 */
export function withoutForeign(dialect: Dialect, body: Uint8Array): Uint8Array | null {
  const { buffer, byteOffset, length } = body
  const parsed = membersOf(JSON.parse(Buffer.from(buffer, byteOffset, length).toString()))
  const cut = dialect === 'responses' ? inputWithout(parsed) : messagesWithout(parsed)
  return cut === null ? null : new TextEncoder().encode(JSON.stringify({ ...parsed, ...cut }))
}

function inputWithout({ input }: Members): Members | null {
  const kept = keptOf(input)
  return kept === null ? null : { input: kept }
}

function messagesWithout({ messages }: Members): Members | null {
  if (!Array.isArray(messages)) return null
  let isCut = false
  const kept = (messages as readonly unknown[]).flatMap((message) => {
    const content = keptOf(membersOf(message)['content'])
    if (content === null) return [message]
    isCut = true
    // A turn without content is refused.
    return content.length === 0 ? [] : [{ ...membersOf(message), content }]
  })
  return isCut ? { messages: kept } : null
}

/** Null: the list has no foreign reasoning, or is none. */
function keptOf(list: unknown): readonly unknown[] | null {
  if (!Array.isArray(list)) return null
  const kept = (list as readonly unknown[]).filter((one) => !isForeign(one))
  return kept.length === list.length ? null : kept
}

/** A block of thinking, or an item of reasoning, whose signature is in a carrier. */
function isForeign(one: unknown): boolean {
  if (!isObject(one)) return false
  const { type, signature, data, encrypted_content: encrypted } = one
  if (type === 'thinking') return isCarrier(signature)
  if (type === 'redacted_thinking') return isCarrier(data)
  return type === 'reasoning' && isCarrier(encrypted)
}

function isCarrier(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(CARRIER)
}
