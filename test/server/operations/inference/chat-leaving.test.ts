/** Callers who leave while a provider is silent, and who learns of it. D27. */
import t from 'tap'
import type { CallCost } from '../../../../src/server/ports/money/money.ts'
import type { Inference } from '../../../../src/server/ports/inference/inference.ts'
import { openChatProvider, type ChatProviderFront } from '../../../support/inference/chat-provider-front.ts'
import { answersChat, silentChat } from '../../../support/inference/fake-chat.ts'
import { Steps } from '../../../support/inference/fake-stream.ts'
import { keptSpend } from '../../../support/money/free-spend.ts'
import { until } from '../../../support/wait.ts'

const messages = [{ role: 'user', content: 'Hello there' }]

/** The cost of a call whose caller leaves before the provider has answered. */
async function costOfLeft(
  { post, first }: ChatProviderFront,
  { holds }: ReturnType<typeof keptSpend>,
  body: object,
): Promise<CallCost> {
  const leaving = new AbortController()
  const [nth, held] = [first.calls.length, holds.length]
  const asked = post({ model: 'acme/one', messages, stream: true, ...body }, {}, leaving.signal)
  await first.arrived(nth)
  leaving.abort()
  await asked.catch(() => undefined)
  await until('it is charged', () => typeof holds[held]?.end === 'object')
  return holds[held]?.end as CallCost
}

t.test('a disconnect before the first output ends the call at the provider at once', async (t) => {
  const spend = keptSpend()
  // Its timers stand still: only the end of the connection can be noticed.
  const { post, first } = await openChatProvider(t, { spend })
  first.usually(silentChat)
  const leaving = new AbortController()
  const asked = post({ model: 'acme/one', messages, stream: true }, {}, leaving.signal)
  const call = await first.arrived(0)
  leaving.abort()
  await t.rejects(asked)
  await call.closed
  await until('it is charged', () => spend.holds[0]?.end !== 'open')
  t.match(spend.holds[0]?.end, { isEstimated: true, text: { outputTokens: 0 } })
})

t.test('charges media and requested reasoning of a call when the caller disconnects', async (t) => {
  const spend = keptSpend()
  // Ten seconds pass with each look.
  let now = 0
  const provider = await openChatProvider(t, { spend, now: () => (now += 10_000) })
  provider.first.usually(silentChat)
  const costOf = (body: object): Promise<CallCost> => costOfLeft(provider, spend, body)
  const plain = (await costOf({})).tokens ?? 0
  const url = `data:image/png;base64,${'A'.repeat(400_000)}`
  const picture = [{ type: 'image_url', image_url: { url } }]
  const seen = (await costOf({ messages: [{ role: 'user', content: picture }] })).tokens ?? 0
  t.ok(seen > plain + 1_100 && seen < plain + 1_150, `${seen} and ${plain} tokens`)
  const thought = await costOf({ reasoning_effort: 'high' })
  t.ok((thought.text?.outputTokens ?? 0) >= 500, '50 tokens for each second')
  const bounded = await costOf({ reasoning_effort: 'high', max_tokens: 64 })
  t.equal(bounded.text?.outputTokens, 64)
  t.match(await costOf({ reasoning_effort: 'none' }), { text: { outputTokens: 0 } })
})

t.test('charges the reported cost when the caller disconnects after the whole output', async (t) => {
  const spend = keptSpend()
  const { post, first } = await openChatProvider(t, { spend })
  const steps = new Steps()
  first.usually(answersChat({}, { steps }))
  // The role, four words and the finish.
  steps.allow(6)
  const leaving = new AbortController()
  const response = await post({ model: 'acme/one', messages, stream: true }, {}, leaving.signal)
  const reader = response.body?.getReader()
  let text = ''
  while (!text.includes('"stop"')) text += Buffer.from((await reader?.read())?.value ?? []).toString()
  leaving.abort()
  // Another call has the front see that the first has left.
  await (await post({ model: 'acme/other', messages })).text()
  steps.allow(100)
  await until('it is charged', () => spend.holds[0]?.end !== 'open')
  t.match(spend.holds[0]?.end, { isEstimated: false, tokens: 9, text: { outputTokens: 4 } })
})

t.test('a connection serves more calls after one or more streams', async (t) => {
  const { post } = await openChatProvider(t)
  for (let nth = 0; nth < 5; nth++) {
    const response = await post({ model: 'acme/one', messages, stream: true })
    t.match(await response.text(), /\[DONE\]\n\n$/)
  }
})

t.test('a stream creates an abort signal, and a whole call with its body in memory does not', async (t) => {
  let signals = 0
  const around = (inference: Inference): Inference => ({
    withPreset: (...asked) => inference.withPreset(...asked),
    count: (job) => inference.count(job),
    answer: (job, form, ports) => {
      const { call } = job
      const seen = new Proxy(call, {
        get(target, name) {
          if (name === 'signal') signals++
          const value: unknown = Reflect.get(target, name)
          return typeof value === 'function' ? (value.bind(target) as unknown) : value
        },
      })
      return inference.answer({ ...job, call: seen }, form, ports)
    },
  })
  const { post } = await openChatProvider(t, { around })
  for (const [stream, isMade] of [
    [false, false],
    [true, true],
  ] as const) {
    const body = { model: 'acme/chat', messages: [{ role: 'user', content: 'Hello there' }], stream }
    t.match(await (await post(body)).text(), stream ? /there/ : /Hello there, you/)
    t.equal(signals > 0, isMade)
  }
})
