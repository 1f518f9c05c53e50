import type { BodyEdit } from '../schemas/inference/provider-body.ts'
import type { Dialect } from '../schemas/inference/text-request.ts'
import type { KeptBody, MemberSpan } from '../schemas/kept-body.ts'
import { endOfSpace, type Span } from '../schemas/values/json-bytes.ts'
import { membersOf } from '../schemas/values/members.ts'
import { JsonPlaces, type ItemPlace } from './walk/json-places.ts'
import { hasCarrier, isForeign, type BareReasoning, type ForeignParts } from './prompt/signatures.ts'
import { isStepUnsigned } from './messages/write-request.ts'

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
  const name = dialect === 'responses' ? 'input' : 'messages'
  const list = places.members({ start, end: length }, [name]).get(name)
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
    const members = places.members(message, ['role', 'content'])
    const [role, content] = [members.get('role'), members.get('content')]
    const { foreign, own } = content === undefined ? NO_ITEMS : sorted(places, content)
    // A turn without content is refused.
    const isEmptied = foreign.length > 0 && own.length === 0
    for (const cut of isEmptied ? [message] : foreign) cuts.push(cut)
    if (!isEmptied && role !== undefined && places.text(role) === 'assistant') step = own
  }
  if (cuts.length === 0) return null
  const isStepBare = isStepUnsigned(step.map((block) => places.texts(block, ['type'])))
  return { cuts: cuts.map(cutOf), isStepBare }
}

const REASONING = '"reasoning"'
/** Members of an item that say what it is, and who has signed it. */
const TELLING = ['type', 'signature', 'data', 'encrypted_content'] as const

/** The provider has nothing to go on from. */
function isBare(places: JsonPlaces, item: Span, bare: BareReasoning): boolean {
  const { type, encrypted_content: encrypted } = places.texts(item, TELLING)
  if (type !== 'reasoning' || (encrypted ?? '') !== '') return false
  const content = places.members(item, ['content']).get('content')
  return bare === 'cut' || content === undefined || !places.hasItems(content)
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
    if (hasCarrier(bytes) && isForeign(places.texts(item, TELLING))) return true
    return bare !== 'kept' && bytes.includes(REASONING) && isBare(places, item, bare)
  }
  const foreign = new Set(items.filter(isRefused))
  return { foreign: [...foreign], own: items.filter((item) => !foreign.has(item)) }
}

function cutOf({ start, end, comma, next }: ItemPlace): MemberSpan {
  return { name: 'reasoning', keyStart: start, start, end, next, comma, inner: 0 }
}
