/** Answers of the fake provider as OpenAI's chat completions gives them, and as others give them badly. */
import type { FakeAnswer, FakeCall } from './fake-provider.ts'
import { streams, type FakeEvent, type StreamPlan } from './fake-stream.ts'
import { CHAT_MEMBERS, MESSAGE_MEMBERS } from './openai-members.ts'

export interface ChatWords {
  readonly words?: readonly string[]
  readonly finish?: string
  /** What the provider says of its tokens: the truth, nothing, or anything else in place of the object. */
  readonly usage?: 'honest' | 'missing' | 'zero' | 'negative' | 'fraction' | object
  /** False: the stream ends without `[DONE]`. */
  readonly isDone?: boolean
  /** Members besides the usual ones of each chunk, or instead of them. */
  readonly more?: object
}

const WORDS: readonly string[] = ['Hello', ' there', ',', ' you']
const ID = 'chatcmpl-fake0001'
const MODEL = 'fake-model-2026'
/** Tokens of every prompt. */
export const PROMPT_TOKENS = 9

/** An honest answer, streamed when it is asked for, to members that OpenAI knows and to others. */
export function answersChat(what: ChatWords = {}, plan: StreamPlan = {}): FakeAnswer {
  const [asStream, asWhole] = [streams((call) => chatEvents(call, what), plan), wholeChat(what)]
  return (call, reply) => (bodyOf(call)['stream'] === true ? asStream(call, reply) : asWhole(call, reply))
}

/** Refuses what OpenAI refuses: members that its published request lacks, at the top and in messages. */
export function strictChat(honest: FakeAnswer = answersChat()): FakeAnswer {
  return (call, reply) => {
    const param = unknownMember(bodyOf(call))
    if (param === null) return honest(call, reply)
    return refusesChat(400, {
      message: `Unknown parameter: '${param}'.`,
      type: 'invalid_request_error',
      param,
      code: 'unknown_parameter',
    })(call, reply)
  }
}

/** Turns of the model in a request. */
function turnsIn(call: FakeCall): readonly Readonly<Record<string, unknown>>[] {
  const messages = bodyOf(call)['messages'] as readonly Readonly<Record<string, unknown>>[]
  return messages.filter(({ role }) => role === 'assistant')
}

/** Refuses a step of a loop of tools without what the model thought, as DeepSeek does. */
export function wantsReasoning(honest: FakeAnswer): FakeAnswer {
  const refuse = refusesChat(400, {
    message: 'The `reasoning_content` in the thinking mode must be passed back to the API.',
  })
  return (call, reply) => {
    const isBare = turnsIn(call).some((turn) => 'tool_calls' in turn && !('reasoning_content' in turn))
    return (isBare ? refuse : honest)(call, reply)
  }
}

/** Refuses that very member, as Groq does. */
export function withoutReasoning(honest: FakeAnswer): FakeAnswer {
  const refuse = refusesChat(400, {
    message: "'messages.1' : for 'role:assistant' property 'reasoning_content' is unsupported",
  })
  return (call, reply) =>
    (turnsIn(call).some((turn) => 'reasoning_content' in turn) ? refuse : honest)(call, reply)
}

/** A refusal in OpenAI's form. @param error members of the error, or the whole body as text */
export function refusesChat(
  status: number,
  error: object | string = {},
  headers: Readonly<Record<string, string>> = {},
): FakeAnswer {
  const usual = { message: 'Refused.', type: 'invalid_request_error', param: null, code: null }
  const body = typeof error === 'string' ? error : JSON.stringify({ error: { ...usual, ...error } })
  return wholeJson(status, body, headers)
}

/** Never answers. */
export const silentChat: FakeAnswer = (call) => call.closed

/** An answer that is not streamed. */
export function wholeChat(what: ChatWords = {}): FakeAnswer {
  return (call, reply) => {
    const words = what.words ?? WORDS
    const choices = indexes(call).map((index) => ({
      index,
      message: { role: 'assistant', content: words.join(''), refusal: null, annotations: [] },
      logprobs: null,
      finish_reason: what.finish ?? 'stop',
    }))
    reply.generated(0, words.length * choices.length)
    const answer = usageOf(call, what)
    const body = {
      ...{ id: ID, object: 'chat.completion', created: 1_700_000_000, model: MODEL, choices },
      ...(answer === null ? {} : { usage: answer }),
      ...{ service_tier: 'default', system_fingerprint: null, ...what.more },
    }
    return wholeJson(200, JSON.stringify(body))(call, reply)
  }
}

/** The events of a stream: role, words, finish, usage where it is asked for, `[DONE]`. */
export function chatEvents(call: FakeCall, what: ChatWords = {}): readonly FakeEvent[] {
  const { words = WORDS, finish = 'stop', isDone = true, more = {} } = what
  const isUsageAsked = (bodyOf(call)['stream_options'] as Asked | undefined)?.include_usage === true
  const chunk = (choices: readonly object[], usage: unknown = null): string =>
    JSON.stringify({
      ...{ id: ID, object: 'chat.completion.chunk', created: 1_700_000_000, model: MODEL },
      ...{ service_tier: 'default', system_fingerprint: null, choices },
      ...(isUsageAsked ? { usage } : {}),
      ...more,
    })
  const each = (delta: object, finished: string | null = null): FakeEvent[] =>
    indexes(call).map((index) => ({
      data: chunk([{ index, delta, logprobs: null, finish_reason: finished }]),
      tokens: 'content' in delta && delta.content !== '' ? 1 : 0,
    }))
  const answer = usageOf(call, what)
  return [
    ...each({ role: 'assistant', content: '', refusal: null }),
    ...words.flatMap((content) => each({ content })),
    ...each({}, finish),
    ...(isUsageAsked && answer !== null ? [{ data: chunk([], answer) }] : []),
    ...(isDone ? [{ data: '[DONE]' }] : []),
  ]
}

/** An error in the middle of a stream, as OpenAI and those who copy it send it. */
export function chatError(error: object = {}): FakeEvent {
  const usual = { message: 'The server had an error.', type: 'server_error', param: null, code: null }
  return { data: JSON.stringify({ error: { ...usual, ...error } }) }
}

interface Asked {
  readonly include_usage?: boolean
}

/** A body of JSON in one piece. */
export function wholeJson(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): FakeAnswer {
  return async (_call, reply) => {
    const length = String(Buffer.byteLength(body))
    await reply.head(status, { 'content-type': 'application/json', 'content-length': length, ...headers })
    await reply.write(body)
  }
}

export function bodyOf(call: FakeCall): Readonly<Record<string, unknown>> {
  return JSON.parse(call.body.toString()) as Readonly<Record<string, unknown>>
}

function indexes(call: FakeCall): readonly number[] {
  return Array.from({ length: Number(bodyOf(call)['n'] ?? 1) }, (_, index) => index)
}

function usageOf(call: FakeCall, { words = WORDS, usage = 'honest' }: ChatWords): object | null {
  const written = words.length * indexes(call).length
  switch (usage) {
    case 'honest':
      return usageWith(PROMPT_TOKENS, written)
    case 'missing':
      return null
    case 'zero':
      return usageWith(0, 0)
    case 'negative':
      return usageWith(-PROMPT_TOKENS, -written)
    case 'fraction':
      return usageWith(PROMPT_TOKENS + 0.5, written + 0.5)
    default:
      return usage
  }
}

function usageWith(prompt: number, completion: number): object {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      ...{ reasoning_tokens: 0, audio_tokens: 0 },
      ...{ accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
    },
  }
}

type Members = Readonly<Record<string, unknown>>

function unknownMember(body: Members): string | null {
  const top = Object.keys(body).find((name) => !CHAT_MEMBERS.has(name))
  if (top !== undefined) return top
  return (
    within(body['messages'], 'messages', (message) => MESSAGE_MEMBERS[String(message['role'])]) ??
    within(body['tools'], 'tools', (tool) => new Set(['type', String(tool['type'])]))
  )
}

/** The first member of a list's objects, and of their content, that is not known. */
function within(
  list: unknown,
  path: string,
  known: (one: Members) => ReadonlySet<string> | undefined,
): string | null {
  if (!Array.isArray(list)) return null
  for (const [at, one] of (list as readonly Members[]).entries()) {
    const name = Object.keys(one).find((member) => known(one)?.has(member) !== true)
    if (name !== undefined) return `${path}[${at}].${name}`
    const inContent = within(one['content'], `${path}[${at}].content`, knownOfPart)
    if (inContent !== null) return inContent
  }
  return null
}

function knownOfPart(part: Members): ReadonlySet<string> {
  return new Set(['type', String(part['type']), 'prompt_cache_breakpoint'])
}
