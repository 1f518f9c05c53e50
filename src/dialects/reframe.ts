import {
  INVALID,
  isDoneMark,
  UNFINISHED,
  withoutMark,
  encoded,
  type MadeEvent,
  type GatheredAnswer,
} from './native-events.ts'
import type { Reframed } from './parts.ts'
import { parseMarked, withoutMarks } from '../schemas/values/long-integers.ts'
import { isObject, membersOf, objectOf, type Members } from '../schemas/values/members.ts'
import { writtenJson } from './walk/written-json.ts'
import { JsonReader } from './walk/json-reader.ts'
import { responseEvents } from './responses/framed.ts'
import type { Failure } from '../schemas/failures.ts'
import { endOfSpace } from '../schemas/values/json-bytes.ts'
import { parsed } from './part-events.ts'
import { SseReader } from './sse-reader.ts'
import { GatheredChat } from './chat/framed.ts'
import { GatheredMessage } from './messages/framed.ts'
import type { TextProtocol } from '../schemas/models/protocols.ts'
import { JSON_VALUES_MAX } from '../schemas/limits/limits.ts'

interface Reframing {
  readonly protocol: TextProtocol
  readonly to: 'answer' | 'events'
  readonly bytes: Uint8Array
}

/** Converts a whole answer to events, or events to a whole answer, since a provider may send the form that was not requested. */
export function reframe({ protocol, to, bytes }: Reframing): Reframed {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  try {
    if (to === 'answer') return answerOfEvents(protocol, body)
    const events = eventsOfAnswer(protocol, withoutMark(body))
    return events === null ? { ok: false, failure: INVALID } : { ok: true, bytes: events }
  } catch {
    // A value that is nested too deeply can be parsed but not serialized.
    return { ok: false, failure: INVALID }
  }
}

/** Null: not an answer in the protocol. */
type EventsOf = (answer: Members) => readonly MadeEvent[] | null

const EVENTS_OF: Readonly<Record<TextProtocol, EventsOf>> = {
  chat: chatEvents,
  responses: responseEvents,
  messages: messageEvents,
  gemini: (answer) => [{ data: answer }],
}

/** The end mark of chat; servers of other protocols may also send it. */
const DONE = 'data: [DONE]\n\n'

/**
 * Converts a whole answer to the events of a stream, for a provider that was asked for a stream; its stream
 * reader then reads them. An error becomes an error event. @returns null: the bytes are not an answer in the
 * protocol
 */
export function eventsOfAnswer(protocol: TextProtocol, json: Buffer): Uint8Array | null {
  const reader = new JsonReader(json)
  // Deeper nesting would exceed the serializer's stack, and more values would exceed the heap.
  if (!reader.isWhole() || reader.values > JSON_VALUES_MAX) return null
  const parsed = parseMarked(json.toString('utf8'))
  // Without a request for events, Gemini streams a list of answers.
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

/** A failed response is not an error here: it has its own event. */
function isError(protocol: TextProtocol, { error, type, object, status }: Members): boolean {
  if (type === 'error' || object === 'error') return true
  return isObject(error) && !(protocol === 'responses' && typeof status === 'string')
}

function chatEvents({ choices, object: _, ...top }: Members): readonly MadeEvent[] | null {
  if (!Array.isArray(choices) || choices.length === 0) return null
  const deltas = choices.map((choice: unknown) => chatChoice(membersOf(choice)))
  if (deltas.some((choice) => choice === null)) return null
  return [{ data: { ...top, object: 'chat.completion.chunk', choices: deltas } }]
}

/** A whole answer is complete even without a finish reason. */
function chatChoice({ message, finish_reason: finish, ...choice }: Members): Members | null {
  if (!isObject(message)) return null
  const { tool_calls: calls } = message
  const called = Array.isArray(calls) ? calls.filter(isObject) : []
  const usual = called.length > 0 ? 'tool_calls' : 'stop'
  // Each entry is a separate call, whatever index the provider gives it.
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
  const usageMember = isObject(usage) ? { usage } : null
  const start = usageMember === null ? null : { usage: { ...usageMember.usage, output_tokens: 0 } }
  return [
    named('message_start', { message: { ...begin, ...start } }),
    ...blocks,
    named('message_delta', { delta: { stop_reason: reason ?? usual, stop_sequence }, ...usageMember }),
    named('message_stop', {}),
  ]
}

/** The block as its first event contains it: without its texts, which follow as fragments. Blocks of other types are complete at their start. */
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
  const textDelta = (kind: string, name: string, value: unknown): readonly Members[] =>
    typeof value === 'string' && value !== '' ? [{ type: kind, [name]: value }] : []
  switch (type) {
    case 'text':
      return [
        ...(Array.isArray(citations) ? citations : []).map((citation: unknown) => ({
          type: 'citations_delta',
          citation,
        })),
        ...textDelta('text_delta', 'text', text),
      ]
    case 'thinking':
      return [
        ...textDelta('thinking_delta', 'thinking', thinking),
        ...textDelta('signature_delta', 'signature', signature),
      ]
    default:
      return isObject(input) && Object.keys(input).length > 0
        ? textDelta('input_json_delta', 'partial_json', writtenJson(input))
        : []
  }
}

const GATHERED: Readonly<Record<TextProtocol, () => GatheredAnswer>> = {
  chat: () => new GatheredChat(),
  responses: () => new GatheredResponse(),
  messages: () => new GatheredMessage(),
  gemini: () => new GatheredGemini(),
}

/**
 * Converts the events of a stream to a whole answer, for a provider that streams although a whole answer was
 * requested; its reader of whole answers then reads it.
 */
export function answerOfEvents(protocol: TextProtocol, events: Buffer): Reframed {
  const gathered = GATHERED[protocol]()
  const read = new SseReader().read(events)
  for (const { name, data } of read.events) {
    const start = endOfSpace(data, 0)
    if (start === data.length || isDoneMark(data, start)) continue
    const event = name === 'error' ? null : parsed(data)
    if (name !== 'error' && event === null) return { ok: false, failure: INVALID }
    const failure = event === null ? 'failed' : gathered.take(event, name)
    if (failure === 'failed') return { ok: false, failure: UNFINISHED, error: Uint8Array.from(data) }
    if (failure !== null) return { ok: false, failure }
    if (gathered.isDone) break
  }
  const answer = gathered.answer()
  if (answer === null) {
    const failure = read.failure ?? (read.events.length === 0 ? INVALID : UNFINISHED)
    return { ok: false, failure }
  }
  return { ok: true, bytes: encoded(withoutMarks(JSON.stringify(answer))) }
}

/** The last event contains the whole response; small servers leave out its items. */
class GatheredResponse implements GatheredAnswer {
  readonly #items = new Map<number, Members>()
  #response: Members | null = null

  get isDone(): boolean {
    return this.#response !== null
  }

  take(event: Members, name: string): Failure | 'failed' | null {
    const { type: declaredType, response, item, output_index: index, error } = event
    const type = typeof declaredType === 'string' && declaredType !== '' ? declaredType : name
    if (type === 'error' || (isObject(error) && !type.startsWith('response.'))) return 'failed'
    if (type === 'response.output_item.done' && isObject(item))
      this.#items.set(typeof index === 'number' ? index : this.#items.size, item)
    const end = FINAL.get(type)
    if (end === undefined) return null
    if (!isObject(response)) return INVALID
    const { output } = response
    const hasItems = Array.isArray(output) && output.length > 0
    const items = [...this.#items].sort(([one], [other]) => one - other).map(([, made]) => made)
    this.#response = { status: end, ...response, ...(!hasItems && { output: items }) }
    return null
  }

  answer(): Members | null {
    return this.#response
  }
}

/** Events that end a stream, with the status of their response. */
const FINAL: ReadonlyMap<string, string> = new Map([
  ['response.completed', 'completed'],
  ['response.incomplete', 'incomplete'],
  ['response.failed', 'failed'],
])

/** The parts of all chunks, and the last value of every other member. */
class GatheredGemini implements GatheredAnswer {
  /** The stream has no end mark; it ends with the body. */
  readonly isDone = false
  readonly #parts: unknown[] = []
  #answer: Members = {}
  #candidate: Members | null = null

  take(chunk: Members): Failure | 'failed' | null {
    const { candidates, error, ...more } = chunk
    if ((error ?? null) !== null) return 'failed'
    this.#answer = { ...this.#answer, ...more }
    if ((candidates ?? null) === null) return null
    if (!Array.isArray(candidates)) return INVALID
    const [first, ...others] = candidates as readonly unknown[]
    if (first === undefined) return null
    const candidate = objectOf(first)
    // Only one answer was requested.
    if (candidate === null || others.length > 0) return INVALID
    const { content, ...facts } = candidate
    const { parts } = membersOf(content)
    if (Array.isArray(parts)) for (const part of parts as readonly unknown[]) this.#parts.push(part)
    this.#candidate = { ...this.#candidate, ...facts }
    return null
  }

  answer(): Members | null {
    const candidate = this.#candidate
    const isBlocked = isObject(this.#answer['promptFeedback'])
    if (candidate === null) return isBlocked ? this.#answer : null
    if ((candidate['finishReason'] ?? '') === '' && !isBlocked) return null
    const content = { role: 'model', parts: this.#parts }
    return { ...this.#answer, candidates: [{ ...candidate, content }] }
  }
}
