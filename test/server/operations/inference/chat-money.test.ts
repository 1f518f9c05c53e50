import t from 'tap'
import type { Generation } from '../../../../src/server/ports/inference/generations.ts'
import { NO_CALL_LIMITS } from '../../../../src/schemas/limits/model-calls.ts'
import { moneyRefused } from '../../../../src/schemas/money/money-refusals.ts'
import { BREAKING, openChat } from '../../../support/inference/chat-front.ts'
import { openChatProvider } from '../../../support/inference/chat-provider-front.ts'
import { answersChat, bodyOf } from '../../../support/inference/fake-chat.ts'
import { boundedSpend, keptSpend } from '../../../support/money/free-spend.ts'
import { present } from '../../../support/must.ts'

const hello = { model: 'sluice/echo-1', messages: [{ role: 'user', content: 'Hello there, you' }] }

t.test('every complete call is charged once, and a refused call releases its reservation', async (t) => {
  const spend = keptSpend()
  const { post } = await openChat(t, { spend })
  await (await post({ ...hello, stream: true })).text()
  await (await post(hello)).text()
  await (await post({ ...hello, response_format: { type: 'json_object' } })).text()
  t.match(
    spend.holds.map(({ end }) => (typeof end === 'string' ? end : end.costNano)),
    [0, 0, 'released'],
  )
})

t.test(
  'output delivered before a break is charged, and a whole answer that broke off is free. D26',
  async (t) => {
    const spend = keptSpend()
    const kept: Generation[] = []
    const generations = {
      keep: (one: Generation) => void kept.push(one),
      find: () => Promise.reject(new Error()),
    }
    const { post } = await openChat(t, { spend, inference: BREAKING, generations })
    await t.rejects((await post({ ...hello, stream: true })).text())
    t.equal((await post(hello)).status, 503)
    t.match(
      kept.map(({ facts }) => facts),
      [
        { isStreamed: true, finishReason: 'error', chargedNano: 7 },
        {
          isStreamed: false,
          isCancelled: false,
          finishReason: 'error',
          chargedNano: 0,
          usage: { output: 1 },
        },
      ],
    )
    t.match(
      spend.holds.map(({ end }) => (typeof end === 'string' ? end : end.costNano)),
      [7, 'released'],
    )
  },
)

t.test('chat.create 403: a refusal reports how many output tokens the remaining money covers', async (t) => {
  const limits = [100, 30].map((restNano) => ({
    kind: 'key' as const,
    limit: {
      span: 'daily' as const,
      limitNano: 900_000,
      spentNano: 0,
      restNano: restNano * 10_000,
      resetsAtMs: null,
    },
    boundNano: 1,
  }))
  const { post, first } = await openChatProvider(t, { spend: { hold: () => moneyRefused(limits) } })
  let message = ''
  const ask = async (more: object): Promise<unknown> => {
    const response = await post({ model: 'acme/one', messages: [{ role: 'user', content: 'Hi' }], ...more })
    t.equal(response.status, 403)
    const { error } = (await response.json()) as {
      error: { message: string; metadata: Record<string, unknown> }
    }
    message = error.message
    return error.metadata['affordable_output_tokens']
  }
  // 300,000 nano-USD less a thousand for each byte of the prompt and each of 8 more, at two thousand a token.
  const bytes = JSON.stringify({ model: 'acme/one', messages: [{ role: 'user', content: 'Hi' }] }).length
  const most = Math.floor((300 - bytes - 8) / 2)
  t.equal(await ask({}), most)
  t.match(
    message,
    new RegExp(`^The key's spending limit does not cover .* Set \`max_tokens\` to ${most} or less, set `),
  )
  t.equal(await ask({ n: 2 }), Math.floor((300 - bytes - ',"n":2'.length - 8) / 4))
  t.equal(await ask({ user: 'x'.repeat(300) }), 0)
  t.equal(first.calls.length, 0)
})

t.test('chat.create 403: a refusal reports the default that was used as the maximum output', async (t) => {
  const limit = { span: 'daily', limitNano: 9, spentNano: 0, restNano: 8, resetsAtMs: null } as const
  const refusing = { hold: () => moneyRefused([{ kind: 'key', limit, boundNano: 1 }]) }
  const callLimits = { key: { ...NO_CALL_LIMITS, default_max_output_tokens: 50 }, workspace: NO_CALL_LIMITS }
  const { post } = await openChatProvider(t, { spend: refusing, keys: { callLimits } })
  for (const [more, reported] of [
    [{}, 50],
    [{ max_tokens: 9 }, undefined],
  ] as const) {
    const response = await post({ model: 'acme/one', messages: [{ role: 'user', content: 'Hi' }], ...more })
    const { error } = (await response.json()) as { error: { metadata: Record<string, unknown> } }
    t.equal(error.metadata['default_max_output_tokens'], reported)
  }
})

t.test('every paid call records its input, output and cached tokens', async (t) => {
  const spend = keptSpend()
  const { post, first } = await openChatProvider(t, { spend })
  const usage = {
    ...{ prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 },
    prompt_tokens_details: { cached_tokens: 12 },
    completion_tokens_details: { reasoning_tokens: 3 },
  }
  first.usually(answersChat({ usage }))
  const messages = [{ role: 'user', content: 'Hi' }]
  for (const stream of [true, false]) await (await post({ model: 'acme/one', messages, stream })).text()
  const expected = { tokens: 20, text: { outputTokens: 7, cachedTokens: 12 } }
  t.match(
    spend.holds.map(({ end }) => end),
    [expected, expected],
  )
})

t.test(
  'chat.create 403: under a limit, names a member that may raise the price if an operator key is used',
  async (t) => {
    const spend = keptSpend()
    const limited = boundedSpend(spend)
    const dear = {
      model: 'acme/one',
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 5,
      service_tier: 'priority',
    }
    for (const ownKey of [undefined, 'own-key-0123456789']) {
      const { post, first } = await openChatProvider(t, { spend: limited, ...(ownKey && { ownKey }) })
      first.usually(answersChat())
      const response = await post(dear)
      t.equal(response.status, ownKey === undefined ? 403 : 200)
      t.equal(first.calls.length, ownKey === undefined ? 0 : 1)
      const issues = [{ path: '/service_tier' }]
      if (ownKey === undefined)
        t.match(await response.json(), { error: { type: 'cost_unbounded', metadata: { issues } } })
      else await response.text()
      const usual = await post({ ...dear, service_tier: 'flex' })
      t.equal(usual.status, 200)
      await usual.text()
    }
  },
)

t.test(
  'chat.create 403: names searches as unbounded under a limit, and accepts them without one',
  async (t) => {
    const body = { model: 'acme/one', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }
    const named = { type: 'function', function: { name: 'f' } }
    const spend = keptSpend()
    const limited = await openChatProvider(t, { spend: boundedSpend() })
    const free = await openChatProvider(t, { spend })
    for (const [more, path, param] of [
      [{ web_search_options: {} }, '/web_search_options', 'web_search_options'],
      [{ enable_search: true }, '/enable_search', 'enable_search'],
      [{ tools: [named, { type: 'web_search' }] }, '/tools/1/type', 'tools[1].type'],
    ] as const) {
      const refused = await limited.post({ ...body, ...more })
      t.equal(refused.status, 403)
      t.match(await refused.json(), {
        error: { type: 'cost_unbounded', param, metadata: { issues: [{ path }] } },
      })
      const response = await free.post({ ...body, ...more })
      t.equal(response.status, 200)
      t.equal(response.headers.get('x-sluice-unpriced'), 'true')
      await response.text()
      t.match(bodyOf(present(free.first.calls.at(-1))), more)
    }
    t.equal(limited.first.calls.length, 0)
    for (const more of [{ web_search_options: null }, { enable_search: false }, { tools: [named] }]) {
      const response = await limited.post({ ...body, ...more })
      t.equal(response.status, 200)
      await response.text()
    }
  },
)

t.test('searches that a chat provider reports are charged, and included in the usage', async (t) => {
  const spend = keptSpend()
  const pricing = { prompt: '0.000001', completion: '0.000002', web_search: '0.005' }
  const { post, first } = await openChatProvider(t, { spend, firstFacts: { pricing } })
  const usage = { prompt_tokens: 20, completion_tokens: 7, server_tool_use: { web_search_requests: 3 } }
  first.usually(answersChat({ usage }))
  const messages = [{ role: 'user', content: 'Hi' }]
  for (const stream of [true, false]) {
    const response = await post({ model: 'acme/one', messages, stream, web_search_options: {} })
    t.match(await response.text(), /"server_tool_use":\{"web_search_requests":3\}/)
    t.equal(response.headers.get('x-sluice-unpriced'), null)
    t.match(spend.holds.at(-1)?.end, { costNano: 20 * 1_000 + 7 * 2_000 + 3 * 5_000_000 })
  }
})
