/** Anthropic's messages, as a row of the proofs. */
import { membersOf } from '../../../../src/schemas/values/members.ts'
import { NativeMessagesStream } from '../../../../src/dialects/messages/stream.ts'
import type { FakeEvent } from '../../../support/inference/fake-stream.ts'
import {
  block,
  blockEnd,
  delta,
  started,
  STOP,
  stopped,
  text as textEvent,
} from '../../../support/inference/message-events.ts'
import { HEAD, FAILURE_OF } from '../../../support/inference/provider-chunks.ts'
import type { ReferenceEvent } from '../../../support/inference/sse-reference.ts'
import { anthropic } from '../clients/anthropic.ts'
import { vercelAnthropic } from '../clients/vercel.ts'
import { AROUND, objectOf, PROMPT, type Judged, type ProvedDialect } from './proved-dialect.ts'

interface Event {
  readonly type?: unknown
  readonly error?: unknown
  readonly delta?: { readonly text?: unknown } | null
  readonly content_block?: unknown
}

const PING = { type: 'ping' }
const SILENCES = /: SLUICE PROCESSING\n\n|event: ping\ndata: [^\n]*\n\n/g

const CACHED = { cache_creation_input_tokens: 6, cache_read_input_tokens: 100 }
const CREATION = { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 4 }
const COUNTS = { input_tokens: 3, ...CACHED, cache_creation: CREATION, output_tokens: 1 }
const TOOL = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }
const json = (partial_json: string): object => delta({ type: 'input_json_delta', partial_json }, 1)
const TEXT = [block({ type: 'text', text: '' }), textEvent('Hi'), textEvent(' there'), blockEnd()]

/** Streams as Anthropic's models and servers that copy its form send them. */
const RECORDED: Readonly<Record<string, readonly object[]>> = {
  anthropic: [started({}, COUNTS), TEXT[0] ?? PING, PING, ...TEXT.slice(1), stopped(), STOP],
  'anthropic, thinking and a tool': [
    started({}, { ...COUNTS, service_tier: 'standard', inference_geo: null }),
    block({ type: 'thinking', thinking: '', signature: '' }),
    delta({ type: 'thinking_delta', thinking: 'Let me é' }),
    delta({ type: 'signature_delta', signature: 'EqoBCkgIARABGAIiQL+/8=' }),
    blockEnd(),
    ...[block(TOOL, 1), json(''), json('{"ci'), json('ty":"Oslo"}'), blockEnd(1)],
    stopped({ input_tokens: 3, ...CACHED, output_tokens: 40 }, 'tool_use'),
    STOP,
  ],
  'anthropic, a search of its own': [
    started(),
    block({ type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} }),
    blockEnd(),
    block({ type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [{ url: 'x' }] }, 1),
    blockEnd(1),
    block({ type: 'text', text: '', citations: [] }, 2),
    delta({ type: 'citations_delta', citation: { cited_text: 'x' } }, 2),
    ...[textEvent('Hi there', 2), blockEnd(2)],
    stopped({ input_tokens: 900, output_tokens: 12, server_tool_use: { web_search_requests: 1 } }),
    STOP,
  ],
  'a gateway that counts at the end': [
    started({}, { input_tokens: 0, output_tokens: 0 }),
    ...TEXT,
    stopped({ input_tokens: 9, output_tokens: 4 }),
    STOP,
  ],
  'a small server': [{ type: 'message_start', message: { content: null } }, ...TEXT, stopped(null), STOP],
}

export const messages: ProvedDialect = {
  name: 'messages',
  dialect: 'messages',
  protocol: 'messages',
  facts: { protocol: 'anthropic', speaks: ['messages'] },
  skipsUnknown: false,
  path: '/messages',
  endsInOrder: false,
  request: (model, content = PROMPT) => ({
    ...{ model, stream: true, max_tokens: 4_096 },
    messages: [{ role: 'user', content }],
  }),
  streamOf: (words) =>
    eventsOf([
      started(),
      block({ type: 'text', text: '' }),
      ...words.map((word) => textEvent(word)),
      blockEnd(),
      stopped(),
      STOP,
    ]),
  placesOf: ({ length }) => ({
    ...{ begin: 1, firstOutput: 2, finish: length + 3, usage: length + 3, terminator: length + 4 },
    held: length + 3,
  }),
  recorded: Object.fromEntries(Object.entries(RECORDED).map(([name, events]) => [name, eventsOf(events)])),
  clientsOf: async (base, key) => [await anthropic(base, key), await vercelAnthropic(base, key)],
  open: () => new NativeMessagesStream(HEAD, FAILURE_OF),
  hear(text) {
    const parts = text.split('\n\n').slice(0, -1)
    const events = parts.flatMap((part) => {
      const line = part.split('\n').find((one) => one.startsWith('data: '))
      return line === undefined ? [] : [JSON.parse(line.slice('data: '.length)) as Event]
    })
    const comments = parts.filter((part) => part.startsWith(':')).length
    return {
      text: events.map(textOf).join(''),
      errors: events.filter(({ type }) => type === 'error').length,
      isTerminated: events.at(-1)?.type === 'message_stop',
      silences: comments + events.filter(({ type }) => type === 'ping').length,
    }
  },
  masked: (text) => text.replaceAll(SILENCES, '').replace(/"id":"msg_\w+"/g, '"id":"msg_"'),
  judge: (events) => judged(events, false),
  judgeRead: (events) => judged(events, true),
}

function eventsOf(events: readonly object[]): readonly FakeEvent[] {
  return events.map((event) => ({ event: (event as { type: string }).type, data: JSON.stringify(event) }))
}

/** @param isRead texts count in blocks of text alone, from their begin on */
function judged(events: readonly ReferenceEvent[], isRead: boolean): Judged {
  let text = ''
  let hasBegun = false
  let isOfText = !isRead
  for (const { name, data } of events) {
    const trimmed = data.replaceAll(AROUND, '')
    if (name === 'error') return { text, isFinished: false }
    if (name === 'ping' || trimmed === '' || trimmed === '[DONE]') continue
    const event: Event | null = objectOf(trimmed)
    if (event === null) return { text, isFinished: false }
    const type = typeof event.type === 'string' ? event.type : name
    if (type === 'error' || (event.error ?? false) !== false) return { text, isFinished: false }
    if (type === 'ping') continue
    if (type === 'message_stop') return { text, isFinished: hasBegun }
    hasBegun = true
    if (isRead && type === 'content_block_start') {
      const { type: kind, text: begin } = membersOf(event.content_block)
      isOfText = kind === 'text'
      if (isOfText && typeof begin === 'string') text += begin
    }
    if (isOfText) text += textOf({ ...event, type })
  }
  return { text, isFinished: false }
}

function textOf({ type, delta: part }: Event): string {
  const text = type === 'content_block_delta' ? part?.text : null
  return typeof text === 'string' ? text : ''
}
