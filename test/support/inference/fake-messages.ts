/** Answers of the fake provider as Anthropic's messages gives them, and as others give them badly. */
import { bodyOf, PROMPT_TOKENS, wholeJson } from './fake-chat.ts'
import type { FakeAnswer, FakeCall } from './fake-provider.ts'
import { streams, type FakeEvent, type StreamPlan } from './fake-stream.ts'

export interface MessageWords {
  readonly words?: readonly string[]
  /** Why the message ends. */
  readonly stop?: string
  /** What the provider says of its tokens: the truth, nothing, or anything else in place of the object. */
  readonly usage?: 'honest' | 'missing' | 'zero' | object
  /** False: the stream ends without `message_stop`. */
  readonly isDone?: boolean
  /** Blocks before the text. */
  readonly blocks?: readonly object[]
  /** Members besides the usual ones of the message, or instead of them. */
  readonly more?: object
}

const WORDS: readonly string[] = ['Hello', ' there', ',', ' you']
const HEAD = { id: 'msg_fake0001', type: 'message', role: 'assistant', model: 'fake-message-2026' }
const CACHED = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }

/** An honest answer, streamed when it is asked for, and a count of tokens. */
export function answersMessages(what: MessageWords = {}, plan: StreamPlan = {}): FakeAnswer {
  const [asStream, asWhole] = [streams(() => messageEvents(what), plan), wholeMessage(what)]
  return (call, reply) => {
    if (call.path.endsWith('/count_tokens'))
      return wholeJson(200, JSON.stringify({ input_tokens: PROMPT_TOKENS }))(call, reply)
    return bodyOf(call)['stream'] === true ? asStream(call, reply) : asWhole(call, reply)
  }
}

/**
 * Refuses what Anthropic refuses: a call without a version or a maximum, and members that it does not know.
 */
export function strictMessages(honest: FakeAnswer = answersMessages()): FakeAnswer {
  return (call, reply) => {
    const wrong = wrongOf(call)
    if (wrong === null) return honest(call, reply)
    return refusesMessages(400, { type: 'invalid_request_error', message: wrong })(call, reply)
  }
}

const MEMBERS = new Set(
  (
    'model messages max_tokens system temperature top_p top_k stop_sequences stream tools tool_choice thinking ' +
    'metadata service_tier speed cache_control container context_management output_config inference_geo mcp_servers'
  ).split(' '),
)

function wrongOf(call: FakeCall): string | null {
  if (call.headers['anthropic-version'] === undefined) return 'anthropic-version: header is required'
  const body = bodyOf(call)
  const isCount = call.path.endsWith('/count_tokens')
  if (body['max_tokens'] === undefined && !isCount) return 'max_tokens: Field required'
  const other = Object.keys(body).find((name) => !MEMBERS.has(name))
  return other === undefined ? null : `${other}: Extra inputs are not permitted`
}

/** A refusal in Anthropic's form. @param error members of the error */
export function refusesMessages(
  status: number,
  error: object = {},
  headers: Readonly<Record<string, string>> = {},
): FakeAnswer {
  const answer = { type: 'invalid_request_error', message: 'Refused.', ...error }
  return wholeJson(status, JSON.stringify({ type: 'error', error: answer, request_id: 'req_1' }), headers)
}

/** An answer that is not streamed. */
export function wholeMessage(what: MessageWords = {}): FakeAnswer {
  return (call, reply) => {
    const { words = WORDS, stop = 'end_turn', blocks = [] } = what
    const content = [...blocks, { type: 'text', text: words.join('') }]
    const usage = usageOf(what, { input_tokens: PROMPT_TOKENS, ...CACHED, output_tokens: words.length })
    reply.generated(0, words.length)
    const reported = usage === null ? null : { usage }
    const body = { ...HEAD, content, stop_reason: stop, stop_sequence: null, ...reported, ...what.more }
    return wholeJson(200, JSON.stringify(body))(call, reply)
  }
}

/** The events of a stream: begin, ping, blocks, words, usage, stop. */
export function messageEvents(what: MessageWords = {}): readonly FakeEvent[] {
  const { words = WORDS, stop = 'end_turn', isDone = true, blocks = [], more = {} } = what
  const begun = usageOf(what, { input_tokens: PROMPT_TOKENS, ...CACHED, output_tokens: 1 })
  const ending = { stop_reason: null, stop_sequence: null, usage: begun }
  const index = blocks.length
  const event = (type: string, members: object, tokens = 0): FakeEvent => ({
    ...{ event: type, data: JSON.stringify({ type, ...members }) },
    tokens,
  })
  return [
    event('message_start', { message: { ...HEAD, content: [], ...ending, ...more } }),
    ...blocks.flatMap((content_block, nth) => [
      event('content_block_start', { index: nth, content_block }),
      event('content_block_stop', { index: nth }),
    ]),
    event('content_block_start', { index, content_block: { type: 'text', text: '' } }),
    event('ping', {}),
    ...words.map((text) =>
      event('content_block_delta', { index, delta: { type: 'text_delta', text } }, text === '' ? 0 : 1),
    ),
    event('content_block_stop', { index }),
    event('message_delta', {
      delta: { stop_reason: stop, stop_sequence: null },
      usage: usageOf(what, { output_tokens: words.length }),
    }),
    ...(isDone ? [event('message_stop', {})] : []),
  ]
}

/** An error in the middle of a stream. */
export function messageErrorEvent(type = 'overloaded_error', message = 'Overloaded'): FakeEvent {
  return { event: 'error', data: JSON.stringify({ type: 'error', error: { type, message } }) }
}

function usageOf({ usage = 'honest' }: MessageWords, honest: object): object | null {
  if (typeof usage === 'object') return usage
  if (usage === 'missing') return null
  if (usage === 'honest') return honest
  return Object.fromEntries(Object.keys(honest).map((name) => [name, 0]))
}
