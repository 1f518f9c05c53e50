import { JSON_VALUES_MAX } from '../../../../schemas/limits/json-limits.ts'
import { parseMarked, withoutMarks } from '../../../../schemas/values/long-integers.ts'
import { isObject, membersOf, objectOf, type Members } from '../../../../schemas/values/members.ts'
import type { TextProtocol } from '../../../../schemas/models/text-models.ts'
import { writtenJson } from '../../../../dialects/walk/written-json.ts'
import { JsonReader } from '../../../../dialects/walk/json-reader.ts'
import { encoded, type MadeEvent } from '../../../../dialects/frame.ts'
import { responseEvents } from '../../../../dialects/responses/framed.ts'

/** Null: no answer in the protocol. */
type EventsOf = (answer: Members) => readonly MadeEvent[] | null

const EVENTS_OF: Readonly<Record<TextProtocol, EventsOf>> = {
  chat: chatEvents,
  responses: responseEvents,
  messages: messageEvents,
  gemini: (answer) => [{ data: answer }],
}
/** Servers of any protocol may end with it; chat does. */
const DONE = 'data: [DONE]\n\n'

/**
 * The events of a stream that says what a whole answer says, for a provider that was asked for a stream: the
 * reader of its streams reads them. An error becomes an event of an error. D22.
 * @returns null: the bytes are no answer in the protocol
 */
export function eventsOfAnswer(protocol: TextProtocol, json: Buffer): Uint8Array | null {
  const reader = new JsonReader(json)
  // Deeper values would exceed the stack of the writer, and more of them the heap.
  if (!reader.isWhole() || reader.values > JSON_VALUES_MAX) return null
  const parsed = parseMarked(json.toString('utf8'))
  // Gemini streams a list of answers where it is not asked for events.
  const answers = protocol === 'gemini' && Array.isArray(parsed) ? (parsed as readonly unknown[]) : [parsed]
  const texts: string[] = []
  for (const one of answers) {
    const answer = objectOf(one)
    if (answer === null) return null
    const events = isError(protocol, answer) ? [{ name: 'error', data: answer }] : EVENTS_OF[protocol](answer)
    if (events === null) return null
    for (const event of events) texts.push(textOf(event))
  }
  if (protocol === 'chat') texts.push(DONE)
  return encoded(texts.join(''))
}

function textOf({ name, data }: MadeEvent): string {
  const line = `data: ${withoutMarks(JSON.stringify(data))}\n\n`
  return name === undefined ? line : `event: ${name}\n${line}`
}

/** A response that failed is an event of its own. */
function isError(protocol: TextProtocol, { error, type, object, status }: Members): boolean {
  if (type === 'error' || object === 'error') return true
  return isObject(error) && !(protocol === 'responses' && typeof status === 'string')
}

function chatEvents({ choices, object: _, ...top }: Members): readonly MadeEvent[] | null {
  if (!Array.isArray(choices) || choices.length === 0) return null
  const said = choices.map((choice: unknown) => chatChoice(membersOf(choice)))
  if (said.some((choice) => choice === null)) return null
  return [{ data: { ...top, object: 'chat.completion.chunk', choices: said } }]
}

/** A whole answer has come to its end, whether it says so or not. */
function chatChoice({ message, finish_reason: finish, ...choice }: Members): Members | null {
  if (!isObject(message)) return null
  const { tool_calls: calls } = message
  const called = Array.isArray(calls) ? calls.filter(isObject) : []
  const usual = called.length > 0 ? 'tool_calls' : 'stop'
  // Each is a call of its own, whatever index the provider gives it.
  const indexed = called.map((call, index) => ({ ...call, index }))
  const delta = { ...message, ...(called.length > 0 && { tool_calls: indexed }) }
  return { ...choice, delta, finish_reason: (finish ?? '') === '' ? usual : finish }
}

function messageEvents(message: Members): readonly MadeEvent[] | null {
  const { content, stop_reason: reason, stop_sequence = null, usage, ...head } = message
  if (!Array.isArray(content) || !content.every(isObject)) return null
  const named = (type: string, members: Members): MadeEvent => ({ name: type, data: { type, ...members } })
  const blocks = content.flatMap((block, index) => [
    named('content_block_start', { index, content_block: begun(block) }),
    ...deltasOf(block).map((delta) => named('content_block_delta', { index, delta })),
    named('content_block_stop', { index }),
  ])
  const usual = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
  const begin = { ...head, content: [], stop_reason: null, stop_sequence: null }
  const told = isObject(usage) ? { usage } : null
  const start = told === null ? null : { usage: { ...told.usage, output_tokens: 0 } }
  return [
    named('message_start', { message: { ...begin, ...start } }),
    ...blocks,
    named('message_delta', { delta: { stop_reason: reason ?? usual, stop_sequence }, ...told }),
    named('message_stop', {}),
  ]
}

/** Clients put texts together of their fragments; blocks of other types begin whole. */
function begun(block: Members): Members {
  const { type, citations, input } = block
  switch (type) {
    case 'text':
      return { ...block, text: '', ...(Array.isArray(citations) && { citations: [] }) }
    case 'thinking':
      return { ...block, thinking: '', signature: '' }
    default:
      return isObject(input) ? { ...block, input: {} } : block
  }
}

function deltasOf({ type, text, citations, thinking, signature, input }: Members): readonly Members[] {
  const said = (kind: string, name: string, value: unknown): readonly Members[] =>
    typeof value === 'string' && value !== '' ? [{ type: kind, [name]: value }] : []
  switch (type) {
    case 'text':
      return [
        ...(Array.isArray(citations) ? citations : []).map((citation: unknown) => ({
          type: 'citations_delta',
          citation,
        })),
        ...said('text_delta', 'text', text),
      ]
    case 'thinking':
      return [
        ...said('thinking_delta', 'thinking', thinking),
        ...said('signature_delta', 'signature', signature),
      ]
    default:
      return isObject(input) && Object.keys(input).length > 0
        ? said('input_json_delta', 'partial_json', writtenJson(input))
        : []
  }
}
