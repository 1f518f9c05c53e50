/** F3, F8, F9, F13: calls are charged by their length and by the tier that the answer reports. */
import t from 'tap'
import { TIER_CHARS_MAX } from '../../../../src/schemas/models/price-conditions.ts'
import type { Generation } from '../../../../src/server/ports/inference/generations.ts'
import { generationRecord } from '../../../../src/server/operations/inference/get-generation.ts'
import { openChatProvider } from '../../../support/inference/chat-provider-front.ts'
import { answersChat } from '../../../support/inference/fake-chat.ts'
import { boundedSpend, keptSpend } from '../../../support/money/free-spend.ts'
import { present } from '../../../support/must.ts'

const PRICING = {
  ...{ prompt: '0.000001', completion: '0.000002' },
  overrides: [{ min_prompt_tokens: 100, prompt: '0.000003' }],
}
const MODIFIERS = [
  { when: { service_tier: 'flex' }, multiplier: '0.5' },
  { when: { service_tier: 'priority' }, multiplier: '2' },
]
const BODY = { model: 'acme/one', messages: [{ role: 'user', content: 'x'.repeat(300) }], max_tokens: 10 }

type Test = Parameters<typeof openChatProvider>[0]

async function opened(t: Test, isLimited = false) {
  const spend = keptSpend()
  const kept: Generation[] = []
  const generations = {
    keep: (one: Generation) => void kept.push(one),
    find: () => Promise.reject(new Error()),
  }
  const front = await openChatProvider(t, {
    spend: isLimited ? boundedSpend(spend) : spend,
    generations,
    firstFacts: { pricing: PRICING, modifiers: MODIFIERS },
  })
  /** Nano-USD of a call whose answer reports this usage. */
  const charged = async (prompt: number, reported: string | null, more: object = {}) => {
    const usage = { prompt_tokens: prompt, completion_tokens: 5, total_tokens: prompt + 5 }
    front.first.usually(answersChat({ usage, more: { service_tier: reported } }))
    const response = await front.post({ ...BODY, ...more })
    await response.text()
    const end = spend.holds.at(-1)?.end
    const costNano = typeof end === 'object' ? end.costNano : null
    return { costNano, header: response.headers.get('x-sluice-unpriced') }
  }
  return { ...front, charged, kept }
}

t.test('for a prompt above a threshold, all of its tokens have the price of that threshold', async (t) => {
  const { charged } = await opened(t)
  for (const stream of [false, true]) {
    t.match(await charged(100, 'default', { stream }), { costNano: 100 * 1_000 + 5 * 2_000, header: null })
    t.match(await charged(101, 'default', { stream }), { costNano: 101 * 3_000 + 5 * 2_000, header: null })
  }
})

t.test('charges the reported tier, or without one the dearer of requested and usual price', async (t) => {
  const { charged, kept } = await opened(t)
  const usual = 100 * 1_000 + 5 * 2_000
  for (const stream of [false, true]) {
    const of = async (reported: string | null, service_tier?: string) =>
      (await charged(100, reported, { stream, ...(service_tier && { service_tier }) })).costNano
    t.equal(await of('priority'), 2 * usual, 'not asked for')
    t.equal(await of('fast', 'priority'), 2 * usual)
    t.equal(await of('flex', 'flex'), usual / 2)
    t.equal(await of('default', 'flex'), usual, 'asked for and not given')
    t.equal(await of(null, 'priority'), 2 * usual, 'nothing reported')
    t.equal(await of(null, 'flex'), usual, 'nothing reported')
  }
  const record = generationRecord(present(kept[0]), 'x')
  t.match(record, { service_tier: 'priority', x: { unpriced_tier: null } })
  t.match(record.x.price, { prompt: '0.000002', completion: '0.000004', overrides: [], modifiers: [1] })
})

t.test('a tier without a price modifier is charged at the usual price, and named', async (t) => {
  const { charged, kept } = await opened(t)
  t.same(await charged(100, 'ultrafast'), { costNano: 110_000, header: 'tier' })
  t.match(generationRecord(present(kept[0]), 'x'), {
    service_tier: 'ultrafast',
    x: { unpriced_tier: 'service_tier' },
  })
  t.same(await charged(100, 'scale'), { costNano: 110_000, header: null }, 'bought before')
})

t.test('a reported name that is too long for a tier is ignored', async (t) => {
  const { charged, kept } = await opened(t)
  const cost = { costNano: 110_000, header: null }
  t.same(await charged(100, 'x'.repeat(TIER_CHARS_MAX + 1)), cost)
  t.match(generationRecord(present(kept[0]), 'x'), { service_tier: null })
})

t.test('chat.create 403: refuses a tier without a modifier under a limit, and names both', async (t) => {
  const { post, charged, first } = await opened(t, true)
  const response = await post({ ...BODY, service_tier: 'ultrafast' })
  t.equal(response.status, 403)
  const message = 'the `modifiers` of first/first-model have no `service_tier: ultrafast`'
  t.match(await response.json(), {
    error: { type: 'cost_unbounded', metadata: { issues: [{ path: '/service_tier', message }] } },
  })
  t.equal(first.calls.length, 0)
  t.match(await charged(100, 'priority', { service_tier: 'priority' }), { costNano: 220_000 })
})
