/** Answers of a provider that the scenarios of responses need, in OpenAI's form. */
import { bodyOf } from '../../../support/inference/fake-chat.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { responseEvents, saysResponse, tellsResponse } from '../../../support/inference/fake-responses.ts'
import type { FakeEvent, StreamPlan } from '../../../support/inference/fake-stream.ts'
import {
  messageEvents,
  named,
  numbered,
  RESPONSE,
  USAGE,
} from '../../../support/inference/responses-streams.ts'

type Members = Readonly<Record<string, unknown>>

export const CALL_ID = 'call_Ab12'
export const SIGNED = 'gAAAAABo+signed/reasoning='

/** A call of a tool, its arguments in pieces that end within a word. */
export function toolCall(
  index: number,
  {
    id = CALL_ID,
    name = 'look',
    argument,
  }: { readonly id?: string; readonly name?: string; readonly argument: object },
): readonly Members[] {
  const at = { item_id: `fc_${index}`, output_index: index }
  const item = { id: at.item_id, type: 'function_call', call_id: id, name }
  const json = JSON.stringify(argument)
  return [
    {
      type: 'response.output_item.added',
      output_index: index,
      item: { ...item, status: 'in_progress', arguments: '' },
    },
    ...[json.slice(0, 4), json.slice(4, 11), json.slice(11)].map((delta) => ({
      type: 'response.function_call_arguments.delta',
      ...at,
      delta,
    })),
    { type: 'response.function_call_arguments.done', ...at, name, arguments: json },
    {
      type: 'response.output_item.done',
      output_index: index,
      item: { ...item, status: 'completed', arguments: json },
    },
  ]
}

/** A call of a tool that takes a text, in two pieces. */
export function customCall(
  index: number,
  { id, name, input }: { readonly id: string; readonly name: string; readonly input: string },
): readonly Members[] {
  const at = { item_id: `ctc_${index}`, output_index: index }
  const item = { id: at.item_id, type: 'custom_tool_call', call_id: id, name }
  return [
    {
      type: 'response.output_item.added',
      output_index: index,
      item: { ...item, status: 'in_progress', input: '' },
    },
    ...[input.slice(0, 5), input.slice(5)].map((delta) => ({
      type: 'response.custom_tool_call_input.delta',
      ...at,
      delta,
    })),
    { type: 'response.custom_tool_call_input.done', ...at, input },
    {
      type: 'response.output_item.done',
      output_index: index,
      item: { ...item, status: 'completed', input },
    },
  ]
}

export function thought(text: string, signature = SIGNED): readonly Members[] {
  const at = { item_id: 'rs_1', output_index: 0, summary_index: 0 }
  const item = { id: 'rs_1', type: 'reasoning', encrypted_content: signature }
  const part = { type: 'summary_text', text }
  return [
    { type: 'response.output_item.added', output_index: 0, item: { ...item, summary: [] } },
    { type: 'response.reasoning_summary_part.added', ...at, part: { ...part, text: '' } },
    ...[text.slice(0, 4), text.slice(4)].map((delta) => ({
      type: 'response.reasoning_summary_text.delta',
      ...at,
      delta,
    })),
    { type: 'response.reasoning_summary_text.done', ...at, text },
    { type: 'response.reasoning_summary_part.done', ...at, part },
    { type: 'response.output_item.done', output_index: 0, item: { ...item, summary: [part] } },
  ]
}

/** Streamed where it is asked for, else whole with the items that the events end. */
export function answers(events: readonly Members[]): FakeAnswer {
  const output = events.flatMap(({ type, item }) => (type === 'response.output_item.done' ? [item] : []))
  const response = { ...RESPONSE, status: 'completed', completed_at: 1_795_312_801, output, usage: USAGE }
  const all = [
    { type: 'response.created', response: RESPONSE },
    ...events,
    { type: 'response.completed', response },
  ]
  const [streamed, whole] = [tellsResponse(named(numbered(all))), saysResponse(response)]
  return (request, reply) => (bodyOf(request)['stream'] === true ? streamed : whole)(request, reply)
}

/** Two calls of `look`. */
export const CALLS = answers([
  ...toolCall(0, { argument: { city: 'Oslo' } }),
  ...toolCall(1, { argument: { city: 'Rome' }, id: 'call_Cd34' }),
])
/** Thinks, then calls `look`. */
export const THINKS_AND_CALLS = answers([
  ...thought('Let me look.'),
  ...toolCall(1, { argument: { city: 'Oslo' } }),
])
/** Thinks, then says "Hello". */
export const THINKS = answers([...thought('Let me think.'), ...messageEvents(['Hello'], 1)])

/** Says these words, and then these events. */
export function breaks(words: readonly string[], end: readonly FakeEvent[], plan: StreamPlan): FakeAnswer {
  const events = responseEvents({ words })
  const last = events.findLastIndex(({ event }) => event === 'response.output_text.delta')
  return tellsResponse([...events.slice(0, last + 1), ...end], plan)
}

/** An error in the middle of a stream. */
export const FAILS: readonly FakeEvent[] = named([
  {
    type: 'error',
    sequence_number: 6,
    code: 'server_error',
    message: 'The server had an error.',
    param: null,
  },
])
