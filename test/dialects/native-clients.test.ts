/** What providers send, as the client that validates every event and every answer takes it. */
import t from 'tap'
import { Compile } from 'typebox/compile'
import { ChatAnswer, ChatChunk } from '../../src/schemas/inference/chat.ts'
import { nativeAnswer } from '../../src/dialects/native-answer.ts'
import { dataOf, HEAD, FAILURE_OF, streamOf } from '../support/inference/provider-chunks.ts'
import { PROVIDER_ANSWERS, PROVIDER_STREAMS } from '../support/inference/provider-streams.ts'
import { must } from '../support/must.ts'
import { openRouterShapes } from '../support/wire/foreign-clients.ts'
import { NativeChatStream } from '../../src/dialects/chat/stream.ts'

const isChunk = Compile(ChatChunk)
const isAnswer = Compile(ChatAnswer)

interface Delta {
  readonly role?: string
  readonly content?: string | null
  readonly tool_calls?: readonly {
    readonly function?: { readonly name?: string; readonly arguments?: string }
  }[]
}

t.test('the stream of every provider is valid, and keeps its content', async (t) => {
  const { chunk: check } = await openRouterShapes()
  for (const [provider, events] of Object.entries(PROVIDER_STREAMS)) {
    const stream = new NativeChatStream(HEAD, FAILURE_OF)
    const { events: given, failure } = stream.read(streamOf(events))
    t.equal(failure, null, provider)
    t.equal(stream.end(), null, provider)
    let text = ''
    let called = ''
    const deltas = dataOf(given).map((data): Delta => {
      const chunk = JSON.parse(data) as {
        id: string
        model: string
        choices: { delta: Delta }[]
        usage?: unknown
      }
      t.ok(isChunk.Check(chunk), `${provider}: ${data}`)
      t.doesNotThrow(() => check(chunk), `${provider}: ${data}`)
      t.match(chunk, { id: HEAD.id, model: HEAD.model, provider: HEAD.provider, choices: { length: 1 } })
      t.equal(chunk.usage, undefined)
      return chunk.choices[0]?.delta ?? {}
    })
    t.equal(deltas[0]?.role, 'assistant', provider)
    for (const { content, tool_calls: calls } of deltas) {
      text += content ?? ''
      for (const call of calls ?? []) called += (call.function?.name ?? '') + (call.function?.arguments ?? '')
    }
    t.same([text, called], provider.endsWith(' tool') ? ['', 'f{}'] : ['Hi there', ''], provider)
    t.equal(stream.hasOutput, true)
    t.equal(stream.isDone, provider !== 'a small server')
    if (JSON.stringify(events).includes('"choices":[],"usage"'))
      t.match(stream.usage, { input: 9, output: 4 }, provider)
  }
})

t.test('the answer of every provider is valid, and keeps its content', async (t) => {
  const { answer: check } = await openRouterShapes()
  const usage = {
    prompt_tokens: 9,
    completion_tokens: 4,
    total_tokens: 13,
    prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
    cost: 0,
    cost_details: {
      upstream_inference_cost: null,
      upstream_inference_prompt_cost: 0,
      upstream_inference_completions_cost: 0,
    },
    is_byok: false,
  }
  for (const [provider, body] of Object.entries(PROVIDER_ANSWERS)) {
    const read = must(nativeAnswer('chat', Buffer.from(JSON.stringify(body)), HEAD))
    const text = Buffer.concat(read.withUsage({ whole: JSON.stringify(usage), added: null })).toString()
    const answer: unknown = JSON.parse(text)
    t.ok(isAnswer.Check(answer), `${provider}: ${text}`)
    t.doesNotThrow(() => check(answer), `${provider}: ${text}`)
    t.match(answer, { id: HEAD.id, model: HEAD.model, provider: HEAD.provider, usage })
  }
})
