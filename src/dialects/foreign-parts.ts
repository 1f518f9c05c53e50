import type { BodyEdit } from '../schemas/inference/provider-body.ts'
import type { Dialect } from '../schemas/inference/text-request.ts'
import type { KeptBody, MemberSpan } from '../schemas/kept-body.ts'
import {
  endOfSpace,
  type Span,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COMMA,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from '../schemas/values/json-bytes.ts'
import { membersOf, type Members } from '../schemas/values/members.ts'
import { hasCarrier, isForeign, type BareReasoning, type ForeignParts } from './prompt/signatures.ts'
import { isStepUnsigned } from './messages/write-request.ts'
import { INFERENCE_DEPTH_MAX } from '../schemas/inference/inference-limits.ts'
import { JsonReader } from './walk/json-reader.ts'

/**
 * Finds the reasoning that an endpoint would refuse because another provider signed it.
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

/** The changes that remove these parts from a body. */
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
    // Providers refuse a turn without content, so an emptied turn is cut as a whole.
    const isEmptied = foreign.length > 0 && own.length === 0
    for (const cut of isEmptied ? [message] : foreign) cuts.push(cut)
    if (!isEmptied && role !== undefined && places.text(role) === 'assistant') step = own
  }
  if (cuts.length === 0) return null
  const isStepBare = isStepUnsigned(step.map((block) => places.texts(block, ['type'])))
  return { cuts: cuts.map(cutOf), isStepBare }
}

const REASONING = '"reasoning"'
/** Members of an item that identify its type and its signer. */
const TELLING = ['type', 'signature', 'data', 'encrypted_content'] as const

/** Whether the provider cannot continue from this reasoning. */
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

/** An item of a list, with the places of the separators around it. */
interface ItemPlace extends Span {
  /** Offset of the comma before the item; 0: it is the first. */
  readonly comma: number
  /** Offset of the next item; 0: it is the last. */
  readonly next: number
}

/** Places of members and items in valid JSON. Decodes only names and the requested texts, since other parts may have millions of values. */
class JsonPlaces {
  readonly #bytes: Buffer
  readonly #reader: JsonReader

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#reader = new JsonReader(bytes, INFERENCE_DEPTH_MAX)
  }

  /** The values of the named members of an object; of duplicates, the last one counts. Empty: not an object. */
  members({ start }: Span, names: readonly string[]): ReadonlyMap<string, Span> {
    const bytes = this.#bytes
    const members = new Map<string, Span>()
    if (bytes[start] !== OPEN_OBJECT) return members
    let at = endOfSpace(bytes, start + 1)
    while (bytes[at] !== CLOSE_OBJECT) {
      const keyEnd = this.#reader.string(at)
      const name = JSON.parse(bytes.toString('utf8', at, keyEnd)) as string
      const value = this.#value(endOfSpace(bytes, endOfSpace(bytes, keyEnd) + 1))
      if (names.includes(name)) members.set(name, value)
      at = this.#behind(value.end)
    }
    return members
  }

  /** The items of a list; empty if the value is not a list. */
  items({ start }: Span): readonly ItemPlace[] {
    const bytes = this.#bytes
    const items: ItemPlace[] = []
    if (bytes[start] !== OPEN_LIST) return items
    let comma = 0
    let at = endOfSpace(bytes, start + 1)
    while (bytes[at] !== CLOSE_LIST) {
      const item = this.#value(at)
      const behind = endOfSpace(bytes, item.end)
      at = this.#behind(item.end)
      items.push({ ...item, comma, next: bytes[behind] === COMMA ? at : 0 })
      comma = behind
    }
    return items
  }

  bytesOf({ start, end }: Span): Buffer {
    return this.#bytes.subarray(start, end)
  }

  /** Null: not a text. */
  text(place: Span): string | null {
    if (this.#bytes[place.start] !== QUOTE) return null
    return JSON.parse(this.bytesOf(place).toString()) as string
  }

  /** The texts of the named members of an object; null stands for other values. */
  texts(place: Span, names: readonly string[]): Members {
    return Object.fromEntries(
      [...this.members(place, names)].map(([name, value]) => [name, this.text(value)]),
    )
  }

  /** Whether it is a list with items. */
  hasItems({ start }: Span): boolean {
    const bytes = this.#bytes
    return bytes[start] === OPEN_LIST && bytes[endOfSpace(bytes, start + 1)] !== CLOSE_LIST
  }

  #value(start: number): Span {
    const end = this.#reader.value(start, 1)
    if (end < 0) throw new Error('the bytes are not JSON')
    return { start, end }
  }

  /** Offset of the next member or item, or of the end. */
  #behind(end: number): number {
    const at = endOfSpace(this.#bytes, end)
    return this.#bytes[at] === COMMA ? endOfSpace(this.#bytes, at + 1) : at
  }
}
