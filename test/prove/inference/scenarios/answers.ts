/** Answers of a provider that the scenarios need, in OpenAI's form. */
import { bodyOf, chatEvents, type ChatWords } from '../../../support/inference/fake-chat.ts'
import type { FakeAnswer, FakeCall } from '../../../support/inference/fake-provider.ts'
import { streams, type FakeEvent, type StreamPlan } from '../../../support/inference/fake-stream.ts'

const HEAD = { id: 'chatcmpl-1', created: 1_795_312_800, model: 'fake', system_fingerprint: null }
const USAGE = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }
export const DONE: FakeEvent = { data: '[DONE]' }
export const CALL_ID = 'call_Ab12'

export function chunk(delta: object, finish: string | null = null): FakeEvent {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }]
  return { data: JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', choices, usage: null }) }
}

export const USAGE_CHUNK: FakeEvent = {
  data: JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', choices: [], usage: USAGE }),
}

/** Two calls of `look`, their arguments in pieces that end within a word. */
export const CALLS: FakeAnswer = (call, reply) => {
  const asked = [
    ['Oslo', CALL_ID],
    ['Rome', 'call_Cd34'],
  ] as const
  if (bodyOf(call)['stream'] !== true) {
    const tools = asked.map(([city, id]) => toolCall(id, JSON.stringify({ city })))
    return whole({ role: 'assistant', content: null, tool_calls: tools }, 'tool_calls')(call, reply)
  }
  const pieces = asked.flatMap(([city, id], index) => [
    chunk({ tool_calls: [{ index, ...toolCall(id, '') }] }),
    ...['{"ci', `ty":"${city.slice(0, 2)}`, `${city.slice(2)}"}`].map((json) =>
      chunk({ tool_calls: [{ index, function: { arguments: json } }] }),
    ),
  ])
  const begin = chunk({ role: 'assistant', content: null })
  return streams([begin, ...pieces, chunk({}, 'tool_calls'), USAGE_CHUNK, DONE])(call, reply)
}

export const SIGNED = {
  type: 'reasoning.text',
  text: 'Let me look.',
  signature: 'EqoBCkgIARABGAIiQL+/8=',
  format: 'anthropic-claude-v1',
  index: 0,
}

/** Thinks with a signature, as OpenRouter sends it, then calls `look`. */
export const THINKS_AND_CALLS: FakeAnswer = (call, reply) => {
  const stated = { reasoning: SIGNED.text, reasoning_details: [SIGNED] }
  const tool = toolCall(CALL_ID, '{"city":"Oslo"}')
  if (bodyOf(call)['stream'] !== true)
    return whole({ role: 'assistant', content: null, ...stated, tool_calls: [tool] }, 'tool_calls')(
      call,
      reply,
    )
  const { signature, ...unsigned } = SIGNED
  const { text: _, ...signed } = { ...SIGNED, signature }
  const events = [
    chunk({ role: 'assistant', content: '', reasoning: SIGNED.text, reasoning_details: [unsigned] }),
    chunk({ content: '', reasoning_details: [signed] }),
    chunk({ tool_calls: [{ index: 0, ...tool }] }),
  ]
  return streams([...events, chunk({}, 'tool_calls'), USAGE_CHUNK, DONE])(call, reply)
}

/** Thinks, then says "Hello", as DeepSeek and vLLM send it. */
export const THINKS: FakeAnswer = (call, reply) => {
  if (bodyOf(call)['stream'] !== true)
    return whole({ role: 'assistant', content: 'Hello', reasoning_content: 'Let me think.' }, 'stop')(
      call,
      reply,
    )
  const events = [
    chunk({ role: 'assistant', content: null, reasoning_content: '' }),
    chunk({ content: null, reasoning_content: 'Let me ' }),
    chunk({ content: null, reasoning_content: 'think.' }),
    chunk({ content: 'Hello', reasoning_content: null }),
  ]
  return streams([...events, chunk({}, 'stop'), USAGE_CHUNK, DONE])(call, reply)
}

/** Says these words, then what `end` makes of the rest of the stream. */
export function breaks(words: ChatWords, end: (events: readonly FakeEvent[]) => readonly FakeEvent[]) {
  return (plan: StreamPlan): FakeAnswer =>
    streams((call: FakeCall) => end(chatEvents(call, words).slice(0, 1 + (words.words?.length ?? 0))), plan)
}

/** The data of these events, one event each. */
export function reported(events: readonly (object | string)[]): FakeAnswer {
  return streams(events.map((one) => ({ data: typeof one === 'string' ? one : JSON.stringify(one) })))
}

export function says(body: object): FakeAnswer {
  return async (_call, reply) => {
    const text = JSON.stringify(body)
    await reply.head(200, {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    })
    await reply.write(text)
  }
}

function whole(message: object, finish: string): FakeAnswer {
  const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }]
  return says({ ...HEAD, object: 'chat.completion', choices, usage: USAGE })
}

function toolCall(id: string, json: string): object {
  return { id, type: 'function', function: { name: 'look', arguments: json } }
}
