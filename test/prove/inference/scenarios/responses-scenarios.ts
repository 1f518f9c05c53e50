/** What each client of responses does, and what it and the provider must have seen of it. */
import { deepStrictEqual as same, match, ok, strictEqual as equal } from 'node:assert/strict'
import { bodyOf, PROMPT_TOKENS, refusesChat } from '../../../support/inference/fake-chat.ts'
import type { FakeAnswer, FakeCall } from '../../../support/inference/fake-provider.ts'
import {
  answersResponses,
  saysResponse,
  strictResponses,
  tellsResponse,
} from '../../../support/inference/fake-responses.ts'
import { Steps } from '../../../support/inference/fake-stream.ts'
import { RESPONSES_ANSWERS, RESPONSES_STREAMS } from '../../../support/inference/responses-streams.ts'
import type { Ask, ChatClient } from '../clients/client.ts'
import { breaks, CALL_ID, CALLS, FAILS, SIGNED, THINKS, THINKS_AND_CALLS } from './responses-answers.ts'
import { CITY, IMAGE, type Scenario, type World } from './scenarios.ts'

const WORDS = 'Hello there, you'
const TOKENS = PROMPT_TOKENS + 4
const ECHO = 'sluice/echo-1'
/** The word of each client for an answer that is whole. */
const WHOLE = /^(?:completed|stop)$/

type Item = Readonly<Record<string, unknown>>

/** Against the fake provider, a lenient and a strict one. */
export const RESPONSES_NATIVE: Readonly<Record<string, Scenario>> = {
  'whole answer': (world) => says(world, false),
  'streamed answer': (world) => says(world, true),
  'tool calls in fragments': async (world) => {
    const { seen } = await asked(world, CALLS, { isStream: true, hasTool: true })
    equal(seen.error, null)
    same(seen.calls, [
      { name: 'look', argument: 'Oslo' },
      { name: 'look', argument: 'Rome' },
    ])
  },
  'two steps, whole': (world) => twoSteps(world, false),
  'two steps, streamed': (world) => twoSteps(world, true),
  'image input': async (world) => {
    const { seen, calls } = await asked(world, answersResponses(), { image: IMAGE })
    equal(seen.error, null)
    equal(seen.text, WORDS)
    ok(calls[0]?.body.includes(IMAGE), 'the picture arrived as it was sent')
  },
  'structured output': async (world) => {
    const words = ['{"city"', ':"Oslo"}']
    for (const isStream of [false, true]) {
      const { seen, body } = await asked(world, answersResponses({ words }), { schema: CITY, isStream })
      equal(seen.error, null)
      same(JSON.parse(seen.text), { city: 'Oslo' })
      const { format } = body['text'] as { format: { type: string; schema: typeof CITY } }
      equal(format.type, 'json_schema')
      same(format.schema.required, ['city'])
    }
  },
  'reasoning text': async (world) => {
    for (const isStream of [false, true]) {
      const { seen, body } = await asked(world, THINKS, { effort: 'low', isStream })
      equal(seen.error, null)
      equal(seen.text, 'Hello')
      equal(seen.reasoning, 'Let me think.')
      equal((body['reasoning'] as { effort?: string }).effort, 'low')
    }
  },
  'signed reasoning, two steps with the defaults of the client': async (world) => {
    for (const isStream of [false, true]) {
      world.provider.script(asStrict(world, THINKS_AND_CALLS))
      const look = (): string => 'rain'
      const { seen, body } = await asked(world, answersResponses(), { isStream, hasTool: true, look })
      equal(seen.error, null)
      equal(seen.text, WORDS)
      const input = body['input'] as readonly Item[]
      // Nothing is stored: a client that names its reasoning by reference goes on without it.
      ok(!input.some(({ type }) => type === 'item_reference'))
      const thought = input.find(({ type }) => type === 'reasoning')
      if (world.client.replaysReasoning) equal(thought?.['encrypted_content'], SIGNED)
      else equal(thought, undefined)
      ok(input.some(({ type }) => type === 'function_call_output'))
    }
  },
  'error before': async (world) => {
    for (const isStream of [false, true]) {
      const refusal = refusesChat(400, { message: 'This prompt is too odd.', code: 'odd_prompt' })
      const { seen, calls } = await asked(world, refusal, { isStream })
      equal(seen.error?.status, 400)
      match(seen.error?.text ?? '', /This prompt is too odd\./)
      equal(calls.length, 1)
    }
  },
  'error in the stream': async (world) => {
    for (const ending of ['whole', 'fin', 'rst', 'silent'] as const)
      await raises(world, breaks(['Hello', ' there'], FAILS, { ending }))
  },
  'a cut in the stream': async (world) => {
    for (const ending of ['whole', 'fin', 'rst'] as const)
      await raises(world, breaks(['Hello', ' there'], [], { ending }))
  },
  cancel: async (world) => {
    const steps = new Steps()
    // Four events come before the first word.
    steps.allow(6)
    const leaving = new AbortController()
    const { seen, calls } = await asked(world, answersResponses({}, { steps }), {
      isStream: true,
      signal: leaving.signal,
      onText: (text) => {
        if (text.startsWith('Hello')) leaving.abort()
      },
    })
    ok(seen.text.startsWith('Hello'))
    ok(!seen.text.endsWith('you'))
    await calls[0]?.closed
  },
}

/** Each kind of provider, as one scenario. */
export const RESPONSES_PROVIDERS: Readonly<Record<string, Scenario>> = {
  'streams of other providers': async (world) => {
    for (const [name, events] of Object.entries(RESPONSES_STREAMS)) {
      const { seen } = await asked(world, tellsResponse(events), { isStream: true })
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
    for (const [name, body] of Object.entries(RESPONSES_ANSWERS)) {
      const { seen } = await asked(world, saysResponse(body))
      equal(seen.error, null, name)
      ok(seen.text === 'Hi there' || seen.calls[0]?.name === 'f', name)
    }
  },
}

/** Against the built-in model. */
export const RESPONSES_BUILT_IN: Readonly<Record<string, Scenario>> = {
  'whole and streamed answers': async ({ client }) => {
    for (const isStream of [false, true]) {
      const seen = await client.ask({ model: ECHO, prompt: WORDS, isStream })
      equal(seen.error, null)
      same([seen.text, seen.tokens], [WORDS, 6])
      match(String(seen.finish), WHOLE)
    }
  },
  'tool call in fragments': async ({ client }) => {
    for (const isStream of [false, true]) {
      const seen = await client.ask({ model: ECHO, prompt: WORDS, hasTool: true, mustCall: true, isStream })
      equal(seen.error, null)
      same(seen.calls, [{ name: 'look', argument: WORDS }])
    }
  },
  'structured output is refused': async ({ client }) => {
    const seen = await client.ask({ model: ECHO, prompt: WORDS, isStream: true, schema: CITY })
    equal(seen.error?.status, 400)
    match(seen.error?.text ?? '', /text\/format/)
  },
  'reasoning text': async ({ client }) => {
    const seen = await client.ask({ model: ECHO, prompt: WORDS, isStream: true, effort: 'low' })
    equal(seen.error, null)
    equal(seen.text, WORDS)
    equal(seen.reasoning.split(' ').length, 3)
  },
  'error before': async ({ client }) => {
    const seen = await client.ask({ model: 'sluice/echo-9', prompt: WORDS, isStream: true })
    equal(seen.error?.status, 404)
    match(seen.error?.text ?? '', /echo-9/)
  },
}

interface Asked {
  readonly seen: Awaited<ReturnType<ChatClient['ask']>>
  readonly calls: readonly FakeCall[]
  /** Of the last request that the provider got. */
  readonly body: Item
}

async function asked(world: World, answer: FakeAnswer, ask: Partial<Ask> = {}): Promise<Asked> {
  const { provider, client, model } = world
  const before = provider.calls.length
  provider.usually(asStrict(world, answer))
  const seen = await client.ask({ model, prompt: 'Say hello', isStream: false, ...ask })
  const calls = provider.calls.slice(before)
  const last = calls.at(-1)
  const body = last === undefined ? {} : bodyOf(last)
  equal(body['store'], false)
  return { seen, calls, body }
}

/** A strict provider refuses each member that OpenAI's own request lacks. */
function asStrict({ model }: World, answer: FakeAnswer): FakeAnswer {
  return model.endsWith('/strict') ? strictResponses(answer) : answer
}

async function says(world: World, isStream: boolean): Promise<void> {
  const { seen } = await asked(world, answersResponses(), { isStream })
  equal(seen.error, null)
  same([seen.text, seen.tokens], [WORDS, TOKENS])
  match(String(seen.finish), WHOLE)
}

async function twoSteps(world: World, isStream: boolean): Promise<void> {
  world.provider.script(asStrict(world, CALLS))
  const cities: string[] = []
  const look = (city: string): string => {
    cities.push(city)
    return `rain in ${city}`
  }
  const { seen, body, calls } = await asked(world, answersResponses(), { isStream, hasTool: true, look })
  equal(seen.error, null)
  same(cities, ['Oslo', 'Rome'])
  equal(seen.text, WORDS)
  equal(calls.length, 2)
  const input = body['input'] as readonly Item[]
  const called = input.find(({ type }) => type === 'function_call')
  equal(called?.['call_id'], CALL_ID)
  same(JSON.parse(String(called?.['arguments'])), { city: 'Oslo' })
  const result = input.find(({ type }) => type === 'function_call_output')
  equal(result?.['call_id'], CALL_ID)
  match(JSON.stringify(result?.['output']), /rain in Oslo/)
}

/** The text before the end is there, and the client says that the answer is not whole. */
async function raises(world: World, answer: FakeAnswer): Promise<void> {
  const { seen, calls } = await asked(world, answer, { isStream: true })
  equal(seen.text, 'Hello there')
  ok(seen.error !== null, 'the client raises')
  equal(calls.length, 1)
}
