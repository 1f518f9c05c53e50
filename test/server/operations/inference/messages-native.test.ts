/**
 * Messages at a provider that speaks messages: the request that it gets, the answer of the caller, and the
 * charge.
 */
import t from 'tap'
import { Compile } from 'typebox/compile'
import { INLINE_JSON_BYTES_MAX } from '../../../../src/schemas/limits/limits.ts'
import { MessageAnswer, MessageEvent } from '../../../../src/schemas/inference/messages.ts'
import { PROVIDER_KEY } from '../../../support/inference/chat-provider-front.ts'
import { bodyOf, PROMPT_TOKENS } from '../../../support/inference/fake-chat.ts'
import { answersMessages, strictMessages } from '../../../support/inference/fake-messages.ts'
import { eventsOf, openMessagesProvider, statedBy } from '../../../support/inference/messages-front.ts'
import { boundedSpend, keptSpend } from '../../../support/money/free-spend.ts'
import { NO_LIMITS } from '../../../support/money/key-money.ts'
import { present } from '../../../support/must.ts'
import { REPORTED_SEARCHES_MAX } from '../../../../src/dialects/usage.ts'

const hello = { model: 'acme/chat', max_tokens: 50, messages: [{ role: 'user', content: 'Hello there' }] }
const isAnswer = Compile(MessageAnswer)
const isEvent = Compile(MessageEvent)
const COST = (PROMPT_TOKENS * 1_000 + 4 * 2_000) / 1e9
const THINKING = { type: 'thinking', thinking: 'hm', signature: 'A\\/=' }

t.test('a stream has the name of the model, and its usage and cost at the end', async (t) => {
  const spend = keptSpend()
  const { send, first, rest } = await openMessagesProvider(t, { spend })
  first.script(strictMessages(answersMessages({ blocks: [THINKING] })))
  const response = await send({ ...hello, stream: true })
  t.equal(response.status, 200)
  t.equal(response.headers.get('x-sluice-provider'), 'first')
  const text = await response.text()
  const events = eventsOf(text)
  for (const event of events) t.ok(isEvent.Check(event), event.type)
  t.notMatch(text, /ping/)
  t.match(text, JSON.stringify(THINKING))
  t.equal(statedBy(events), 'Hello there, you')
  t.match(events[0], { type: 'message_start', message: { id: 'msg_fake0001', model: 'acme/chat' } })
  t.match(events.at(-2), {
    delta: { stop_reason: 'end_turn' },
    usage: { output_tokens: 4, cost: COST, is_byok: false },
  })
  t.match(events.at(-1), { type: 'message_stop' })
  t.match(spend.holds[0]?.end, { costNano: COST * 1e9, isEstimated: false, provider: 'first' })
  const [call] = first.calls
  t.match(call?.headers, { 'x-api-key': PROVIDER_KEY, 'anthropic-version': '2023-06-01' })
  t.equal(call?.headers['authorization'], undefined)
  t.equal(call?.path, '/v1/messages')
  t.same(bodyOf(present(call)), { ...hello, model: 'first-model', stream: true })
  t.equal(await rest(), 0)
})

t.test('a whole answer has its usage and cost', async (t) => {
  const spend = keptSpend()
  const { send, rest } = await openMessagesProvider(t, { spend })
  const response = await send(hello)
  t.equal(response.status, 200)
  const answer = (await response.json()) as Record<string, unknown>
  t.ok(isAnswer.Check(answer), JSON.stringify(answer))
  t.match(answer, {
    ...{ id: 'msg_fake0001', model: 'acme/chat', stop_reason: 'end_turn' },
    content: [{ type: 'text', text: 'Hello there, you' }],
    usage: { input_tokens: PROMPT_TOKENS, output_tokens: 4, cost: COST, is_byok: false },
  })
  t.match(spend.holds[0]?.end, { costNano: COST * 1e9, isEstimated: false })
  t.equal(await rest(), 0)
})

t.test("the provider gets the caller's request without the members for Sluice", async (t) => {
  const { send, first } = await openMessagesProvider(t)
  const cached = { type: 'text', text: 'é', cache_control: { type: 'ephemeral', ttl: '1h' } }
  const turns = [
    { role: 'user', content: [cached] },
    { role: 'assistant', content: [THINKING, { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', is_error: true, content: [] }] },
  ]
  const theirs = {
    ...{ messages: turns, metadata: { user_id: 'u' }, context_management: { edits: [] }, top_k: 5 },
    ...{ thinking: { type: 'enabled', budget_tokens: 1_024 }, service_tier: 'auto', max_tokens: 50 },
  }
  const ours = { provider: { order: ['first'] }, session_id: 's', transforms: ['x'], models: [], debug: {} }
  const headers = {
    'anthropic-version': '2026-10-21',
    'anthropic-beta': 'a-1, b-2',
    cookie: 'c',
    'x-other': 'o',
  }
  const response = await send({ ...ours, model: 'acme/chat', ...theirs, route: 'fallback' }, headers)
  t.equal(response.status, 200)
  t.equal(response.headers.get('x-sluice-dropped'), 'transforms')
  const call = present(first.calls[0])
  t.equal(call.body.toString(), JSON.stringify({ model: 'first-model', ...theirs }))
  t.match(call.headers, { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a-1, b-2' })
  t.same([call.headers['cookie'], call.headers['x-other']], [undefined, undefined])
})

t.test('a header of the call overrides the same header of the catalogue', async (t) => {
  const firstProvider = { headers: { 'Anthropic-Version': '2020-01-01', 'x-more': 'm' } }
  const { send, first } = await openMessagesProvider(t, { firstProvider })
  t.equal((await send(hello)).status, 200)
  const call = present(first.calls[0])
  t.equal(call.bytes.toString('latin1').match(/anthropic-version/gi)?.length, 1)
  t.match(call.headers, { 'anthropic-version': '2023-06-01', 'x-more': 'm' })
})

t.test('cache writes for an hour have their own price', async (t) => {
  const spend = keptSpend()
  const pricing = {
    ...{ prompt: '0.000001', completion: '0.000002', input_cache_read: '0.0000001' },
    ...{ input_cache_write: '0.00000125', input_cache_write_1h: '0.000002' },
  }
  const { send, first } = await openMessagesProvider(t, { spend, firstFacts: { pricing } })
  const cached = { cache_creation: { ephemeral_5m_input_tokens: 6, ephemeral_1h_input_tokens: 4 } }
  const counts = { input_tokens: 3, cache_creation_input_tokens: 10, cache_read_input_tokens: 100 }
  const usage = { ...counts, ...cached, output_tokens: 4 }
  first.script(answersMessages({ usage }), answersMessages({ usage }))
  await (await send(hello)).text()
  await (await send({ ...hello, stream: true })).text()
  const costNano = 3 * 1_000 + 6 * 1_250 + 4 * 2_000 + 100 * 100 + 4 * 2_000
  for (const { end } of spend.holds) t.match(end, { costNano, tokens: 113 })
})

const SEARCHED = { prompt: '0.000001', completion: '0.000002', web_search: '0.01' }
const SEARCH = { type: 'web_search_20250305', name: 'web_search', max_uses: 2 }

t.test('web searches are reserved by their maximum and charged by the reported number', async (t) => {
  const spend = keptSpend()
  const facts = { firstFacts: { pricing: SEARCHED, context_length: 1_000 } }
  const { send, first, rest } = await openMessagesProvider(t, { spend, ...facts })
  const counts = { input_tokens: 900, output_tokens: 4 }
  const answers = (web_search_requests: unknown): void =>
    first.script(answersMessages({ usage: { ...counts, server_tool_use: { web_search_requests } } }))
  const tokens = 900 * 1_000 + 4 * 2_000
  const bound = 3 * (1_000 * 1_000 + 50 * 2_000) + 2 * 10_000_000
  for (const stream of [true, false])
    for (const [reported, costNano] of [
      [1, tokens + 10_000_000],
      [2, tokens + 20_000_000],
      [0, tokens],
      [null, tokens],
      [10 ** 9, tokens + REPORTED_SEARCHES_MAX * 10_000_000],
    ] as const) {
      answers(reported)
      const response = await send({ ...hello, model: 'acme/one', stream, tools: [SEARCH] })
      const text = await response.text()
      t.equal(response.headers.get('x-sluice-unpriced'), null)
      const { ask, end } = present(spend.holds.at(-1))
      t.equal(ask.bound.anyNano, bound)
      t.match(end, { costNano, isEstimated: false }, String(reported))
      t.match(text, `"cost":${Math.min(costNano, bound) / 1e9}`, 'no more than the bound is charged')
    }
  t.equal(await rest(), 0)
})

const COMPACTS = { context_management: { edits: [{ type: 'compact_20260112' }] } }

t.test('a compaction is reserved as a second pass over the prompt, and charged as a step', async (t) => {
  const spend = keptSpend()
  const facts = { firstFacts: { pricing: SEARCHED, context_length: 1_000 } }
  const { send, first } = await openMessagesProvider(t, { spend, ...facts })
  const iterations = [
    { type: 'compaction', input_tokens: 900, output_tokens: 40 },
    { type: 'message', input_tokens: 100, output_tokens: 4 },
  ]
  for (const stream of [true, false]) {
    first.script(answersMessages({ usage: { input_tokens: 100, output_tokens: 4, iterations } }))
    const text = await (await send({ ...hello, model: 'acme/one', stream, ...COMPACTS })).text()
    const { ask, end } = present(spend.holds.at(-1))
    t.equal(ask.bound.anyNano, 2 * 1_000 * 1_000 + (50 + 1_000) * 2_000)
    t.match(end, { costNano: 1_000 * 1_000 + 44 * 2_000, tokens: 1_000, isEstimated: false })
    t.match(text, JSON.stringify({ iterations }).slice(1, -1), 'the steps stay in the answer')
  }
})

t.test('messages 403: under a limit an unknown `context_management` has no maximum cost', async (t) => {
  for (const more of [COMPACTS, { context_management: { edits: [{ type: 'other' }] } }]) {
    const { send, first } = await openMessagesProvider(t, { spend: boundedSpend() })
    const response = await send({ ...hello, ...more })
    t.equal(response.status, 403)
    t.match(await response.json(), {
      error: { metadata: { error_type: 'cost_unbounded', issues: [{ path: '/context_management' }] } },
    })
    t.equal(first.calls.length, 0)
  }
})

t.test('messages 400: refuses state for the operator account, not for a workspace account', async (t) => {
  const operator = await openMessagesProvider(t)
  const own = await openMessagesProvider(t, { ownKey: 'own-provider-key-1' })
  own.first.usually(answersMessages())
  for (const [more, path] of [
    [{ thread: { type: 'continue', previous_message_id: 'msg_1' } }, '/thread'],
    [{ container: 'container_1' }, '/container'],
    [{ diagnostics: { previous_message_id: 'msg_1' } }, '/diagnostics/previous_message_id'],
  ] as const)
    for (const below of ['', '/count_tokens']) {
      const response = await operator.send({ ...hello, ...more }, {}, below)
      t.equal(response.status, 400)
      t.match(await response.json(), {
        error: { metadata: { error_type: 'stateless', issues: [{ path }] } },
      })
      t.equal((await own.send({ ...hello, ...more }, {}, below)).status, 200)
      t.match(bodyOf(present(own.first.calls.at(-1))), more)
    }
  t.equal(operator.first.calls.length, 0)
  t.equal((await operator.send({ ...hello, container: { skills: [] } })).status, 200)
})

t.test(
  'messages 403: names searches without a maximum or a price under a limit, and accepts them without a limit',
  async (t) => {
    for (const [pricing, max_uses, path] of [
      [SEARCHED, undefined, '/tools/0/max_uses'],
      [SEARCHED, -1, '/tools/0/max_uses'],
      [undefined, 2, '/tools/0'],
    ] as const) {
      const facts = { firstFacts: { context_length: 1_000, ...(pricing && { pricing }) } }
      const limited = await openMessagesProvider(t, { spend: boundedSpend(), ...facts })
      const body = { ...hello, model: 'acme/one', tools: [{ ...SEARCH, max_uses }] }
      const refused = await limited.send(body)
      t.equal(refused.status, 403)
      t.match(await refused.json(), {
        error: { metadata: { error_type: 'cost_unbounded', issues: [{ path }] } },
      })
      t.equal(limited.first.calls.length, 0)
      const free = await openMessagesProvider(t, facts)
      const response = await free.send(body)
      await response.text()
      t.equal(response.status, 200)
      t.equal(response.headers.get('x-sluice-unpriced'), pricing === undefined ? 'true' : null)
    }
  },
)

t.test(
  'under a limit, an endpoint without a price for searches is skipped if another one has a price',
  async (t) => {
    const money = { ...NO_LIMITS, isCreditLimited: true }
    const context = { context_length: 1_000 }
    const facts = { firstFacts: context, secondFacts: { ...context, pricing: SEARCHED } }
    const limited = { spend: boundedSpend(), keys: { money } }
    const { send, first, second } = await openMessagesProvider(t, { ...limited, ...facts })
    const response = await send({ ...hello, tools: [SEARCH] })
    t.equal(response.status, 200)
    await response.text()
    t.same([first.calls.length, second.calls.length], [0, 1])
  },
)

t.test('large bodies and answers in a worker thread give the same result as small ones', async (t) => {
  const { send, first, rest } = await openMessagesProvider(t)
  const long = 'é "x" '.repeat(INLINE_JSON_BYTES_MAX / 6)
  const body = {
    ...hello,
    model: 'acme/one',
    system: [{ type: 'text', text: long, cache_control: { type: 'ephemeral' } }],
  }
  first.script(strictMessages(answersMessages({ words: [long, long] })))
  const response = await send({ ...body, session_id: 's' })
  t.match(await response.json(), {
    ...{ model: 'acme/one', content: [{ text: long + long }] },
    usage: { input_tokens: PROMPT_TOKENS, output_tokens: 2, is_byok: false },
  })
  t.equal(present(first.calls[0]).body.toString(), JSON.stringify({ ...body, model: 'first-model' }))
  t.equal(await rest(), 0)
})
