/** Answers of the fake provider as OpenAI's responses gives them. */
import { bodyOf, PROMPT_TOKENS, refusesChat } from './fake-chat.ts'
import type { FakeAnswer, FakeCall } from './fake-provider.ts'
import { streams, type FakeEvent, type StreamPlan } from './fake-stream.ts'
import { RESPONSES_MEMBERS } from './openai-members.ts'
import { messageStream, type RESPONSE } from './responses-streams.ts'

export interface ResponseWords {
  readonly words?: readonly string[]
  /** What the provider says of its tokens: the truth, nothing, or anything else in place of the object. */
  readonly usage?: 'honest' | 'missing' | object
}

const WORDS: readonly string[] = ['Hello', ' there', ',', ' you']

/** An honest answer, streamed when it is asked for. */
export function answersResponses(what: ResponseWords = {}, plan: StreamPlan = {}): FakeAnswer {
  const asStream = streams(() => responseEvents(what), plan)
  return (call, reply) =>
    bodyOf(call)['stream'] === true ? asStream(call, reply) : wholeOf(what)(call, reply)
}

/** Refuses what OpenAI refuses: members that its published request lacks. */
export function strictResponses(honest: FakeAnswer): FakeAnswer {
  return (call, reply) => {
    const param = Object.keys(bodyOf(call)).find((name) => !RESPONSES_MEMBERS.has(name))
    if (param === undefined) return honest(call, reply)
    const message = `Unknown parameter: '${param}'.`
    return refusesChat(400, { message, param, code: 'unknown_parameter' })(call, reply)
  }
}

/** The events of a stream, each word with the token that it is. */
export function responseEvents(what: ResponseWords = {}): readonly FakeEvent[] {
  const { words = WORDS } = what
  return messageStream(words, usageOf(what)).map((event) =>
    event.event === 'response.output_text.delta' ? { ...event, tokens: 1 } : event,
  )
}

/** A stream of these events, whole or as the plan has it. */
export function tellsResponse(events: readonly FakeEvent[], plan: StreamPlan = {}): FakeAnswer {
  return streams(events, plan)
}

/** An answer that is not streamed. */
export function saysResponse(body: object): FakeAnswer {
  return async (_call, reply) => {
    const text = JSON.stringify(body)
    const length = String(Buffer.byteLength(text))
    await reply.head(200, { 'content-type': 'application/json', 'content-length': length })
    await reply.write(text)
  }
}

function wholeOf(what: ResponseWords): FakeAnswer {
  const last = responseEvents(what).at(-1)
  const { response } = JSON.parse(last?.data ?? '{}') as { response: typeof RESPONSE }
  const says = saysResponse(response)
  return (call: FakeCall, reply) => {
    reply.generated(0, (what.words ?? WORDS).length)
    return says(call, reply)
  }
}

function usageOf({ words = WORDS, usage = 'honest' }: ResponseWords): object | null {
  if (typeof usage === 'object') return usage
  if (usage === 'missing') return null
  return {
    input_tokens: PROMPT_TOKENS,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: words.length,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: PROMPT_TOKENS + words.length,
  }
}
