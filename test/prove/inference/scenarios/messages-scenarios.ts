/** What each client of Anthropic's messages does, and what it and the provider must have seen of it. */
import { deepStrictEqual as same, match, ok, strictEqual as equal } from 'node:assert/strict'
import { bodyOf, PROMPT_TOKENS } from '../../../support/inference/fake-chat.ts'
import {
  answersMessages,
  messageErrorEvent,
  messageEvents,
  refusesMessages,
  strictMessages,
} from '../../../support/inference/fake-messages.ts'
import type { FakeAnswer, FakeCall } from '../../../support/inference/fake-provider.ts'
import { Steps, streams, type FakeEvent, type StreamPlan } from '../../../support/inference/fake-stream.ts'
import { gives, type Block } from './messages-answers.ts'
import type { Ask, ChatClient } from '../clients/client.ts'
import { CITY, IMAGE, type Scenario, type World } from './scenarios.ts'

const WORDS = 'Hello there, you'
const ECHO = 'sluice/echo-1'
const TOKENS = PROMPT_TOKENS + 4
/** Why a message ended, in Anthropic's word and in that of Vercel's `ai`. */
const ENDED = /^(?:end_turn|stop)$/
const TOOL_ID = 'toolu_Ab12'
const SIGNED = { type: 'thinking', thinking: 'Let me look.', signature: 'EqoBCkgIARABGAIiQL+/8=' }

function calls(city: string, id = TOOL_ID): Block {
  return { type: 'tool_use', id, name: 'look', input: { city } }
}

const CALLS = gives([calls('Oslo'), calls('Rome', 'toolu_Cd34')], 'tool_use')
const THINKS = gives(
  [
    { type: 'thinking', thinking: 'Let me think.', signature: 'AA==' },
    { type: 'text', text: 'Hello' },
  ],
  'end_turn',
)

/** Against a provider that refuses what Anthropic refuses. */
export const MESSAGES_NATIVE: Readonly<Record<string, Scenario>> = {
  'whole answer': (world) => plain(world, false),
  'streamed answer': (world) => plain(world, true),
  'tool calls in fragments': async (world) => {
    const { seen } = await asked(world, CALLS, { isStream: true, hasTool: true })
    equal(seen.error, null)
    same(seen.calls, [
      { name: 'look', argument: 'Oslo' },
      { name: 'look', argument: 'Rome' },
    ])
    match(String(seen.finish), /^tool[-_](?:calls|use)$/)
  },
  'two steps, whole': (world) => twoSteps(world, false),
  'two steps, streamed': (world) => twoSteps(world, true),
  'image input': async (world) => {
    const { seen, calls: made } = await asked(world, answersMessages(), { image: IMAGE })
    equal(seen.error, null)
    equal(seen.text, WORDS)
    ok(made[0]?.body.includes(IMAGE.slice(IMAGE.indexOf(',') + 1)), 'the picture arrived as it was sent')
  },
  'structured output': async (world) => {
    for (const isStream of [false, true]) {
      const { seen, body } = await asked(world, asStructured, { schema: CITY, isStream })
      equal(seen.error, null)
      same(JSON.parse(seen.text), { city: 'Oslo' })
      ok(JSON.stringify(body).includes('"required":["city"]'))
    }
  },
  'reasoning text': async (world) => {
    for (const isStream of [false, true]) {
      const { seen, body } = await asked(world, THINKS, { effort: 'low', isStream })
      equal(seen.error, null)
      same([seen.text, seen.reasoning], ['Hello', 'Let me think.'])
      same(body['thinking'], { type: 'enabled', budget_tokens: 1_024 })
    }
  },
  'signed reasoning, two steps': async (world) => {
    for (const isStream of [false, true]) {
      world.provider.script(strictMessages(gives([SIGNED, calls('Oslo')], 'tool_use')))
      const more = { isStream, hasTool: true, effort: 'low', look: (): string => 'rain' } as const
      const { seen, body } = await asked(world, answersMessages(), more)
      equal(seen.error, null)
      match(seen.text, /Hello there, you$/)
      const [, stated] = body['messages'] as readonly { readonly content: readonly Block[] }[]
      const [thought] = stated?.content ?? []
      same([thought?.['thinking'], thought?.['signature']], [SIGNED.thinking, SIGNED.signature])
    }
  },
  'error before': async (world) => {
    for (const isStream of [false, true]) {
      const refusal = refusesMessages(400, { message: 'This prompt is too odd.' })
      const { seen, calls: made } = await asked(world, refusal, { isStream })
      equal(seen.error?.status, 400)
      match(seen.error?.text ?? '', /This prompt is too odd\./)
      // The clients retry by default; `x-should-retry` and the status say that nothing is won by it.
      equal(made.length, 1)
    }
  },
  'error in the stream': async (world) => {
    for (const ending of ['whole', 'fin', 'rst', 'silent'] as const)
      await raises(world, breaks([messageErrorEvent()], { ending }))
  },
  'a cut in the stream': async (world) => {
    for (const ending of ['whole', 'fin', 'rst'] as const) await raises(world, breaks([], { ending }))
  },
  cancel: async (world) => {
    const steps = new Steps()
    steps.allow(BEGUN + 1)
    const leaving = new AbortController()
    const { seen, calls: made } = await asked(world, answersMessages({}, { steps }), {
      isStream: true,
      signal: leaving.signal,
      onText: (text) => {
        if (text.startsWith('Hello')) leaving.abort()
      },
    })
    ok(seen.text.startsWith('Hello'))
    ok(!seen.text.endsWith('you'))
    // The provider is silent: it learns of it by its connection alone.
    await made[0]?.closed
  },
}

/** Against the built-in model. */
export const MESSAGES_BUILT_IN: Readonly<Record<string, Scenario>> = {
  'whole answer': ({ client }) => echoes(client, false),
  'streamed answer': ({ client }) => echoes(client, true),
  'tool call in fragments': async ({ client }) => {
    const called = { hasTool: true, mustCall: true, isStream: true }
    const seen = await client.ask({ model: ECHO, prompt: WORDS, ...called })
    equal(seen.error, null)
    same(seen.calls, [{ name: 'look', argument: WORDS }])
  },
  'reasoning text': async ({ client }) => {
    const seen = await client.ask({ model: ECHO, prompt: WORDS, isStream: true, effort: 'low' })
    equal(seen.error, null)
    same([seen.text, seen.reasoning.split(' ').length], [WORDS, 3])
  },
  'error before': async ({ client }) => {
    const seen = await client.ask({ model: 'sluice/echo-9', prompt: WORDS, isStream: true })
    equal(seen.error?.status, 404)
    match(seen.error?.text ?? '', /echo-9/)
  },
}

async function echoes(client: ChatClient, isStream: boolean): Promise<void> {
  const seen = await client.ask({ model: ECHO, prompt: WORDS, isStream })
  equal(seen.error, null)
  same([seen.text, seen.tokens], [WORDS, 6])
  match(String(seen.finish), ENDED)
}

/** Events of a stream before its first word. */
const BEGUN = messageEvents().findIndex(({ data }) => data.includes('text_delta'))

/** Two words, then these events. */
function breaks(end: readonly FakeEvent[], plan: StreamPlan): FakeAnswer {
  return streams([...messageEvents().slice(0, BEGUN + 2), ...end], plan)
}

/** A client asks for a form of answer by a member of its own, or by a tool that has to be called. */
const asStructured: FakeAnswer = (call, reply) => {
  const { tools = [] } = bodyOf(call) as { readonly tools?: readonly { readonly name: string }[] }
  const [tool] = tools
  const answer =
    tool === undefined
      ? gives([{ type: 'text', text: '{"city":"Oslo"}' }], 'end_turn')
      : gives([{ ...calls('Oslo'), name: tool.name }], 'tool_use')
  return answer(call, reply)
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
  provider.usually(strictMessages(answer))
  const seen = await client.ask({ model, prompt: 'Say hello', isStream: false, ...ask })
  const made = provider.calls.slice(before)
  const last = made.at(-1)
  return { seen, calls: made, body: last === undefined ? {} : bodyOf(last) }
}

async function plain(world: World, isStream: boolean): Promise<void> {
  const { seen } = await asked(world, answersMessages(), { isStream })
  equal(seen.error, null)
  same([seen.text, seen.tokens], [WORDS, TOKENS])
  match(String(seen.finish), ENDED)
}

async function twoSteps(world: World, isStream: boolean): Promise<void> {
  world.provider.script(strictMessages(CALLS))
  const cities: string[] = []
  const look = (city: string): string => {
    cities.push(city)
    return `rain in ${city}`
  }
  const { seen, body, calls: made } = await asked(world, answersMessages(), { isStream, hasTool: true, look })
  equal(seen.error, null)
  same(cities, ['Oslo', 'Rome'])
  equal(seen.text, WORDS)
  equal(made.length, 2)
  const [, written, results] = body['messages'] as readonly { readonly content: readonly Block[] }[]
  same([written?.content[0]?.['id'], written?.content[0]?.['input']], [TOOL_ID, { city: 'Oslo' }])
  equal(results?.content[0]?.['tool_use_id'], TOOL_ID)
  match(JSON.stringify(results.content[0]?.['content']), /rain in Oslo/)
}

/** The text before the end is there, and the client says that the answer is not whole. */
async function raises(world: World, answer: FakeAnswer): Promise<void> {
  const { seen, calls: made } = await asked(world, answer, { isStream: true })
  equal(seen.text, 'Hello there')
  ok(seen.error !== null, 'the client raises')
  equal(made.length, 1)
}
