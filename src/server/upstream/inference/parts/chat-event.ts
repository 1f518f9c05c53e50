import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { Free, maybe, OPEN } from '../../../../schemas/inference/text-members.ts'

const Text = maybe(Type.String())
const Index = maybe(Type.Integer({ minimum: 0 }))

// Some servers write the arguments as the object that they are.
const Called = maybe(Type.Object({ name: Text, arguments: maybe(Type.Union([Type.String(), Free])) }, OPEN))
const Fragment = Type.Object({ index: Index, id: Text, function: Called }, OPEN)
/** A call of a tool, or a fragment of it. */
export type CallFragment = Static<typeof Fragment>

/** An entry of `reasoning_details`, or a fragment of one. */
const Detail = Type.Object(
  { type: Type.String(), text: Text, summary: Text, data: Text, signature: Text, format: Text, id: Text },
  OPEN,
)
export type Detail = Static<typeof Detail>

/** Mistral writes parts, those of `thinking` with parts of their own. */
const Part = Type.Object(
  { type: Text, text: Text, thinking: maybe(Type.Union([Type.String(), Type.Array(Free)])) },
  OPEN,
)
const Said = Type.Object(
  {
    content: maybe(Type.Union([Type.String(), Type.Array(Type.Union([Type.String(), Part]))])),
    reasoning: Text,
    reasoning_content: Text,
    reasoning_details: maybe(Type.Array(Detail)),
    refusal: Text,
    tool_calls: maybe(Type.Array(Fragment)),
    function_call: Called,
  },
  OPEN,
)
/** What a choice says, in a stream or in a whole answer. */
export type Said = Static<typeof Said>
export type SaidPart = string | Static<typeof Part>

const Choice = Type.Object(
  { index: Index, delta: maybe(Said), finish_reason: Text, native_finish_reason: Text },
  OPEN,
)
/** A part of an answer. */
export type ChatChoice = Static<typeof Choice>

const Event = Type.Object({ choices: maybe(Type.Array(Choice)) }, OPEN)
const EVENT = Compile(Event)

/** Null: a member that is read is of another type. */
export function chatEventOf(event: Readonly<Record<string, unknown>>): Static<typeof Event> | null {
  return EVENT.Check(event) ? event : null
}
