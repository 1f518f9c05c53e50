/** What each client does, and what it and the provider must have seen of it. */
import { deepStrictEqual as same, match, ok, strictEqual as equal } from 'node:assert/strict'
import {
  answersChat,
  bodyOf,
  chatError,
  PROMPT_TOKENS,
  refusesChat,
  strictChat,
} from '../../../support/inference/fake-chat.ts'
import type { FakeAnswer, FakeCall, FakeProvider } from '../../../support/inference/fake-provider.ts'
import { Steps } from '../../../support/inference/fake-stream.ts'
import { PROVIDER_ANSWERS, PROVIDER_STREAMS } from '../../../support/inference/provider-streams.ts'
import { breaks, CALL_ID, CALLS, says, SIGNED, THINKS, THINKS_AND_CALLS, reported } from './answers.ts'
import type { Ask, ChatClient } from '../clients/client.ts'

export interface World {
  readonly provider: FakeProvider
  readonly client: ChatClient
  readonly model: string
}

/** Throws where anything is not as it must be. */
export type Scenario = (world: World) => Promise<void>

const WORDS = 'Hello there, you'
const TOKENS = PROMPT_TOKENS + 4
/** A picture of 1 × 1. */
export const IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
export const CITY = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const ECHO = 'sluice/echo-1'

/** Against the fake provider, a lenient and a strict one. */
export const NATIVE: Readonly<Record<string, Scenario>> = {
  'whole answer': async (world) => {
    const { seen } = await asked(world, answersChat())
    equal(seen.error, null)
    same([seen.text, seen.finish, seen.tokens], [WORDS, 'stop', TOKENS])
  },
  'streamed answer': async (world) => {
    const { seen } = await asked(world, answersChat(), { isStream: true })
    equal(seen.error, null)
    same([seen.text, seen.finish, seen.tokens], [WORDS, 'stop', TOKENS])
  },
  'tool calls in fragments': async (world) => {
    const { seen } = await asked(world, CALLS, { isStream: true, hasTool: true })
    equal(seen.error, null)
    same(seen.calls, [
      { name: 'look', argument: 'Oslo' },
      { name: 'look', argument: 'Rome' },
    ])
    match(String(seen.finish), /^tool[-_]calls$/)
  },
  'two steps, whole': (world) => twoSteps(world, false),
  'two steps, streamed': (world) => twoSteps(world, true),
  'image input': async (world) => {
    const { seen, calls } = await asked(world, answersChat(), { image: IMAGE })
    equal(seen.error, null)
    equal(seen.text, WORDS)
    ok(calls[0]?.body.includes(IMAGE), 'the picture arrived as it was sent')
  },
  'structured output': async (world) => {
    const words = ['{"city"', ':"Oslo"}']
    for (const isStream of [false, true]) {
      const { seen, body } = await asked(world, answersChat({ words }), { schema: CITY, isStream })
      equal(seen.error, null)
      same(JSON.parse(seen.text), { city: 'Oslo' })
      const format = body['response_format'] as { type: string; json_schema: { schema: object } }
      equal(format.type, 'json_schema')
      same((format.json_schema.schema as typeof CITY).required, ['city'])
    }
  },
  'reasoning text': async (world) => {
    for (const isStream of [false, true]) {
      const { seen, body } = await asked(world, THINKS, { effort: 'low', isStream })
      equal(seen.error, null)
      equal(seen.text, 'Hello')
      if (world.client.readsReasoning) equal(seen.reasoning, 'Let me think.')
      const { reasoning, reasoning_effort: effort } = body as {
        reasoning?: object
        reasoning_effort?: string
      }
      same(effort ?? reasoning, effort === undefined ? { effort: 'low' } : 'low')
    }
  },
  'signed reasoning, two steps': async (world) => {
    for (const isStream of [false, true]) {
      world.provider.script(asStrict(world, THINKS_AND_CALLS))
      const look = (): string => 'rain'
      const { seen, body } = await asked(world, answersChat(), { isStream, hasTool: true, look })
      equal(seen.error, null)
      equal(seen.text, WORDS)
      const [, stated] = body['messages'] as readonly Readonly<Record<string, unknown>>[]
      const [detail] = (stated?.['reasoning_details'] ?? []) as readonly Partial<typeof SIGNED>[]
      // A strict provider refuses the member: it is cut out for it.
      if (isStrict(world)) equal(detail, undefined)
      else if (world.client.replaysReasoning)
        same([detail?.text, detail?.signature], [SIGNED.text, SIGNED.signature])
    }
  },
  'error before': async (world) => {
    for (const isStream of [false, true]) {
      const refusal = refusesChat(400, { message: 'This prompt is too odd.', code: 'odd_prompt' })
      const { seen, calls } = await asked(world, refusal, { isStream })
      equal(seen.error?.status, 400)
      match(seen.error?.text ?? '', /This prompt is too odd\./)
      // The clients retry by default; `x-should-retry` and the status say that nothing is won by it.
      equal(calls.length, 1)
    }
  },
  'error in the stream': async (world) => {
    const words = { words: ['Hello', ' there'] }
    const fails = breaks(words, (events) => [...events, chatError()])
    for (const ending of ['whole', 'fin', 'rst', 'silent'] as const) await raises(world, fails({ ending }))
  },
  'a cut in the stream': async (world) => {
    const words = { words: ['Hello', ' there'] }
    for (const ending of ['whole', 'fin', 'rst'] as const)
      await raises(world, breaks(words, (events) => events)({ ending }))
  },
  cancel: async (world) => {
    const steps = new Steps()
    steps.allow(3)
    const leaving = new AbortController()
    const { seen, calls } = await asked(world, answersChat({}, { steps }), {
      isStream: true,
      signal: leaving.signal,
      onText: (text) => {
        if (text.startsWith('Hello')) leaving.abort()
      },
    })
    ok(seen.text.startsWith('Hello'))
    ok(!seen.text.endsWith('you'))
    // The provider is silent: it learns of it by its connection alone.
    await calls[0]?.closed
  },
}

/** Each kind of provider, as one scenario. */
export const DIALECTS: Readonly<Record<string, Scenario>> = {
  'streams of other providers': async (world) => {
    for (const [name, events] of Object.entries(PROVIDER_STREAMS)) {
      const { seen } = await asked(world, reported(events), { isStream: true })
      equal(seen.error, null, name)
      const isCall = name.endsWith(' tool')
      equal(seen.text, isCall ? '' : 'Hi there', name)
      same(
        seen.calls.map((call) => call.name),
        isCall ? ['f'] : [],
        name,
      )
    }
  },
  'answers of other providers': async (world) => {
    for (const [name, body] of Object.entries(PROVIDER_ANSWERS)) {
      const { seen } = await asked(world, says(body))
      equal(seen.error, null, name)
      ok(seen.text === 'Hi there' || seen.calls[0]?.name === 'f', name)
    }
  },
}

/** Against the built-in model. */
export const BUILT_IN: Readonly<Record<string, Scenario>> = {
  'whole answer': async ({ client }) => {
    const seen = await client.ask({ model: ECHO, prompt: WORDS, isStream: false })
    equal(seen.error, null)
    same([seen.text, seen.finish, seen.tokens], [WORDS, 'stop', 6])
  },
  'streamed answer': async ({ client }) => {
    const seen = await client.ask({ model: ECHO, prompt: WORDS, isStream: true })
    equal(seen.error, null)
    same([seen.text, seen.finish, seen.tokens], [WORDS, 'stop', 6])
  },
  'tool call in fragments': async ({ client }) => {
    const called = { hasTool: true, mustCall: true, isStream: true }
    const seen = await client.ask({ model: ECHO, prompt: WORDS, ...called })
    equal(seen.error, null)
    same(seen.calls, [{ name: 'look', argument: WORDS }])
  },
  'structured output is refused': async ({ client }) => {
    const seen = await client.ask({ model: ECHO, prompt: WORDS, isStream: true, schema: CITY })
    equal(seen.error?.status, 400)
    match(seen.error?.text ?? '', /response_format/)
  },
  'reasoning text': async ({ client }) => {
    const seen = await client.ask({ model: ECHO, prompt: WORDS, isStream: true, effort: 'low' })
    equal(seen.error, null)
    equal(seen.text, WORDS)
    if (client.readsReasoning) equal(seen.reasoning.split(' ').length, 3)
  },
  'error before': async ({ client }) => {
    const seen = await client.ask({ model: 'sluice/echo-9', prompt: WORDS, isStream: true })
    equal(seen.error?.status, 404)
    match(seen.error?.text ?? '', /echo-9/)
  },
  cancel: async ({ client }) => {
    const leaving = new AbortController()
    const seen = await client.ask({
      model: `${ECHO}:slow`,
      prompt: Array.from({ length: 1_000 }, (_, nth) => `w${nth}`).join(' '),
      isStream: true,
      signal: leaving.signal,
      onText: (text) => {
        if (text.startsWith('w0 w1')) leaving.abort()
      },
    })
    match(seen.text, /^w0 w1/)
    ok(!seen.text.includes('w500'))
  },
}

interface Asked {
  readonly seen: Awaited<ReturnType<ChatClient['ask']>>
  readonly calls: readonly FakeCall[]
  /** Of the last request that the provider got. */
  readonly body: Readonly<Record<string, unknown>>
}

async function asked(world: World, answer: FakeAnswer, ask: Partial<Ask> = {}): Promise<Asked> {
  const { provider, client, model } = world
  const before = provider.calls.length
  provider.usually(asStrict(world, answer))
  const seen = await client.ask({ model, prompt: 'Say hello', isStream: false, ...ask })
  const calls = provider.calls.slice(before)
  const last = calls.at(-1)
  return { seen, calls, body: last === undefined ? {} : bodyOf(last) }
}

/** A strict provider refuses each member that OpenAI's own request lacks. */
function asStrict(world: World, answer: FakeAnswer): FakeAnswer {
  return isStrict(world) ? strictChat(answer) : answer
}

function isStrict({ model }: World): boolean {
  return model.endsWith('/strict')
}

async function twoSteps(world: World, isStream: boolean): Promise<void> {
  world.provider.script(asStrict(world, CALLS))
  const cities: string[] = []
  const look = (city: string): string => {
    cities.push(city)
    return `rain in ${city}`
  }
  const { seen, body, calls } = await asked(world, answersChat(), { isStream, hasTool: true, look })
  equal(seen.error, null)
  same(cities, ['Oslo', 'Rome'])
  equal(seen.text, WORDS)
  equal(calls.length, 2)
  const [, written, result] = body['messages'] as readonly Readonly<Record<string, unknown>>[]
  const [first] = written?.['tool_calls'] as readonly { id: string; function: { arguments: string } }[]
  equal(first?.id, CALL_ID)
  same(JSON.parse(first.function.arguments), { city: 'Oslo' })
  equal(result?.['tool_call_id'], CALL_ID)
  match(JSON.stringify(result?.['content']), /rain in Oslo/)
}

/** The text before the end is there, and the client says that the answer is not whole. */
async function raises(world: World, answer: FakeAnswer): Promise<void> {
  const { seen, calls } = await asked(world, answer, { isStream: true })
  equal(seen.text, 'Hello there')
  ok(seen.error !== null, 'the client raises')
  equal(calls.length, 1)
}
