import {
  hasCarrier,
  isForeign,
  type BareReasoning,
  type ForeignParts,
} from '../../../schemas/inference/forms/foreign-signatures.ts'
import type { BodyEdit } from '../../../schemas/inference/provider-body.ts'
import type { Dialect } from '../../../schemas/inference/text-request.ts'
import type { KeptBody, MemberSpan } from '../../../schemas/kept-body.ts'
import { endOfSpace, type Span } from '../../../schemas/values/json-bytes.ts'
import { membersOf } from '../../../schemas/values/members.ts'
import { JsonPlaces, type ItemPlace } from './walk/json-places.ts'

/**
 * Finds the reasoning that an endpoint would refuse, since it has not signed it. All other bytes stay.
 * @param body JSON that has passed the schema of the dialect
 * @returns null: it has none
 */
export function foreignParts(
  dialect: Dialect,
  { buffer, byteOffset, length }: Uint8Array,
  bare: BareReasoning = 'kept',
): ForeignParts | null {
  const bytes = Buffer.from(buffer, byteOffset, length)
  const places = new JsonPlaces(bytes)
  const start = endOfSpace(bytes, 0)
  const top = places.members({ start, end: length })
  const list = top.get(dialect === 'responses' ? 'input' : 'messages')
  if (list === undefined) return null
  if (dialect !== 'responses') return ofMessages(places, list)
  const { foreign } = sorted(places, list, bare)
  return foreign.length === 0 ? null : { cuts: foreign.map(cutOf), isStepBare: false }
}

/** The changes of a body without such parts. */
export function foreignEdits(body: KeptBody, foreign: ForeignParts | undefined): readonly BodyEdit[] {
  if (foreign === undefined) return []
  const cuts = foreign.cuts.map((mark) => ({ kind: 'cut_mark', mark }) as const)
  return foreign.isStepBare && isThinking(body)
    ? [...cuts, { kind: 'set', name: 'thinking', json: '{"type":"disabled"}' }]
    : cuts
}

function isThinking(body: KeptBody): boolean {
  const thinking = body.knows('thinking') ? body.last('thinking') : null
  if (thinking === null) return false
  const { start, end } = thinking
  const value: unknown = JSON.parse(Buffer.from(body.bytes.subarray(start, end)).toString())
  return membersOf(value)['type'] === 'enabled'
}

function ofMessages(places: JsonPlaces, list: Span): ForeignParts | null {
  const cuts: ItemPlace[] = []
  let step: readonly ItemPlace[] = []
  for (const message of places.items(list)) {
    const members = places.members(message)
    const content = members.get('content')
    const role = members.get('role')
    const { foreign, own } = content === undefined ? NO_ITEMS : sorted(places, content)
    // A turn without content is refused.
    const isEmptied = foreign.length > 0 && own.length === 0
    for (const cut of isEmptied ? [message] : foreign) cuts.push(cut)
    if (!isEmptied && role !== undefined && places.parsed(role) === 'assistant') step = own
  }
  if (cuts.length === 0) return null
  const types = step.map((block) => String(membersOf(places.parsed(block))['type']))
  const isStepBare = types.includes('tool_use') && !/thinking$/.test(types[0] ?? '')
  return { cuts: cuts.map(cutOf), isStepBare }
}

const REASONING = '"reasoning"'

/** The provider has nothing to go on from. */
function isBare(item: unknown, bare: BareReasoning): boolean {
  const { type, encrypted_content: encrypted, content } = membersOf(item)
  if (type !== 'reasoning' || (encrypted ?? '') !== '') return false
  return bare === 'cut' || !Array.isArray(content) || content.length === 0
}

interface Sorted {
  readonly foreign: readonly ItemPlace[]
  readonly own: readonly ItemPlace[]
}

const NO_ITEMS: Sorted = { foreign: [], own: [] }

function sorted(places: JsonPlaces, list: Span, bare: BareReasoning = 'kept'): Sorted {
  const items = places.items(list)
  const isRefused = (item: Span): boolean => {
    const bytes = places.bytesOf(item)
    if (hasCarrier(bytes) && isForeign(places.parsed(item))) return true
    return bare !== 'kept' && bytes.includes(REASONING) && isBare(places.parsed(item), bare)
  }
  const foreign = new Set(items.filter(isRefused))
  return { foreign: [...foreign], own: items.filter((item) => !foreign.has(item)) }
}

function cutOf({ start, end, comma, next }: ItemPlace): MemberSpan {
  return { name: 'reasoning', keyStart: start, start, end, next, comma, inner: 0 }
}
