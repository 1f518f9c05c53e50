import t from 'tap'
import { fail } from '../../../../src/schemas/failures.ts'
import { BREAKING, openChat } from '../../../support/inference/chat-front.ts'
import { keptSpend } from '../../../support/money/free-spend.ts'

const hello = { model: 'sluice/echo-1', messages: [{ role: 'user', content: 'Hello there, you' }] }

t.test('every whole call is paid once, and a refused one gives its money back', async (t) => {
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
  'what was delivered before a break is paid; a whole answer that broke reached nobody. D26',
  async (t) => {
    const spend = keptSpend()
    const { post } = await openChat(t, { spend, inference: BREAKING })
    await t.rejects((await post({ ...hello, stream: true })).text())
    t.equal((await post(hello)).status, 503)
    t.match(
      spend.holds.map(({ end }) => (typeof end === 'string' ? end : end.costNano)),
      [7, 'released'],
    )
  },
)

t.test('chat.create 402: money that is used up is told before anything is written', async (t) => {
  const { post } = await openChat(t, { spend: { hold: () => fail('credit_exhausted') } })
  for (const stream of [false, true]) {
    const response = await post({ ...hello, stream })
    t.equal(response.status, 402)
    t.match(await response.json(), { error: { code: 402, type: 'credit_exhausted', param: null } })
  }
})

t.test('chat.create 503: a journal that cannot be written begins no answer', async (t) => {
  const hold = {
    written: () => false,
    progress: () => undefined,
    settle: () => undefined,
    release: () => undefined,
  }
  const { post } = await openChat(t, { spend: { hold: () => ({ ok: true, value: hold }) } })
  t.equal((await post({ ...hello, stream: true })).status, 503)
})
