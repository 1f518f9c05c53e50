import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { Free, maybe, OPEN } from '../../../../schemas/inference/text-members.ts'

const Text = maybe(Type.String())

const Block = Type.Object(
  { type: Type.String(), text: Text, thinking: Text, signature: Text, data: Text, id: Text, name: Text },
  OPEN,
)
export type ContentBlock = Static<typeof Block>

const Delta = Type.Object(
  {
    type: Text,
    text: Text,
    thinking: Text,
    signature: Text,
    partial_json: Text,
    stop_reason: Text,
    stop_sequence: Text,
  },
  OPEN,
)
/** What is added to a block, or to the message. */
export type MessageDelta = Static<typeof Delta>

const Event = Type.Object(
  {
    index: maybe(Type.Integer()),
    message: maybe(Free),
    content_block: maybe(Block),
    delta: maybe(Delta),
  },
  OPEN,
)
export type MessageEvent = Static<typeof Event>
const EVENT = Compile(Event)

/** Null: a member that is read is of another type. */
export function messageEventOf(event: Readonly<Record<string, unknown>>): MessageEvent | null {
  return EVENT.Check(event) ? event : null
}
