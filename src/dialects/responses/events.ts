import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { Free, maybe, OPEN } from '../../schemas/inference/text-members.ts'

const Text = maybe(Type.String())
const Index = maybe(Type.Integer({ minimum: 0 }))

const Event = Type.Object(
  {
    output_index: Index,
    content_index: Index,
    summary_index: Index,
    delta: Text,
    text: Text,
    refusal: Text,
    arguments: Text,
    item: maybe(Free),
  },
  OPEN,
)
/** An event of an item. */
export type ItemEvent = Static<typeof Event>

const Part = Type.Object({ type: Text, text: Text, refusal: Text }, OPEN)
const Parts = maybe(Type.Array(Part))
export type ItemPart = Static<typeof Part>

const Item = Type.Object(
  {
    type: Type.String(),
    id: Text,
    call_id: Text,
    name: Text,
    arguments: Text,
    encrypted_content: Text,
    summary: Parts,
    content: Parts,
  },
  OPEN,
)
export type OutputItem = Static<typeof Item>

const EVENT = Compile(Event)
const ITEM = Compile(Item)
/** Items that are read. */
const TYPES: ReadonlySet<unknown> = new Set(['message', 'reasoning', 'function_call'])

/** Null: a member that Sluice reads has a wrong type. */
export function itemEventOf(event: Readonly<Record<string, unknown>>): ItemEvent | null {
  return EVENT.Check(event) ? event : null
}

/** Null: a member that Sluice reads has a wrong type. Items of other types are not read. */
export function outputItemOf(item: Readonly<Record<string, unknown>>): OutputItem | null {
  const { type, id } = item
  if (typeof type === 'string' && !TYPES.has(type)) return { type, id: typeof id === 'string' ? id : null }
  return ITEM.Check(item) ? item : null
}
