/** The records and the charges of messages: whole, broken off, left by the caller. */
import t from 'tap'
import type { Generation } from '../../../../src/server/ports/inference/generations.ts'
import { AUTHORIZATION } from '../../../support/front.ts'
import { PROMPT_TOKENS } from '../../../support/inference/fake-chat.ts'
import { answersMessages, messageEvents } from '../../../support/inference/fake-messages.ts'
import { Steps, streams } from '../../../support/inference/fake-stream.ts'
import { openMessagesProvider } from '../../../support/inference/messages-front.ts'
import { keptSpend } from '../../../support/money/free-spend.ts'
import { present } from '../../../support/must.ts'
import { until } from '../../../support/wait.ts'

const hello = { model: 'acme/one', max_tokens: 50, messages: [{ role: 'user', content: 'Hello there' }] }

/** Keeps records in memory. */
function keptGenerations() {
  const all: Generation[] = []
  return {
    all,
    keep: (one: Generation) => void all.push(one),
    find: () => Promise.resolve({ ok: false as const, failure: { name: 'generation_unknown' as const } }),
  }
}

t.test('a record has the provider’s id, its finish reason, and the cached prompt tokens', async (t) => {
  const generations = keptGenerations()
  const { send, first } = await openMessagesProvider(t, { generations })
  const usage = { input_tokens: 3, cache_read_input_tokens: 100, output_tokens: 4 }
  for (const stream of [false, true]) {
    first.script(answersMessages({ usage, stop: 'max_tokens' }))
    const response = await send({ ...hello, stream })
    await response.text()
    t.match(generations.all.at(-1), {
      id: response.headers.get('x-generation-id'),
      upstreamId: 'msg_fake0001',
      facts: {
        ...{ model: 'acme/one', provider: 'first', isStreamed: stream, isCancelled: false, attempts: 1 },
        ...{ finishReason: 'max_tokens', usage: { input: 3, cacheRead: 100, output: 4 }, isEstimated: false },
      },
    })
  }
})

t.test(
  "a caller who disconnects is charged for the reported input and the output so far, and the provider's call ends",
  async (t) => {
    const [spend, generations] = [keptSpend(), keptGenerations()]
    const { url, first, rest } = await openMessagesProvider(t, { spend, generations })
    const steps = new Steps()
    first.script(answersMessages({}, { steps }))
    steps.allow(messageEvents().findIndex(({ data }) => data.includes(' there')) + 1)
    const leaving = new AbortController()
    const response = await fetch(`${url}/api/v1/messages`, {
      method: 'POST',
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
      body: JSON.stringify({ ...hello, stream: true }),
      signal: leaving.signal,
    })
    const reader = present(response.body).getReader()
    let text = ''
    while (!text.includes(' there')) text += Buffer.from((await reader.read()).value ?? []).toString()
    leaving.abort()
    await present(first.calls[0]).closed
    await until(() => generations.all.length > 0)
    t.match(generations.all[0]?.facts, {
      ...{ isCancelled: true, finishReason: null, isEstimated: true },
      usage: { input: PROMPT_TOKENS, output: Math.ceil('Hello there'.length / 4) },
    })
    t.match(spend.holds[0]?.end, { isEstimated: true, tokens: PROMPT_TOKENS })
    t.equal(await rest(), 0)
  },
)

t.test('a stream that ends without its last event is an error, with the output that arrived', async (t) => {
  const generations = keptGenerations()
  const { send, first } = await openMessagesProvider(t, { generations })
  first.script(streams(messageEvents().slice(0, -1)))
  await (await send({ ...hello, stream: true })).text().catch(() => '')
  await until(() => generations.all.length > 0)
  t.match(generations.all[0]?.facts, {
    ...{ finishReason: 'error', isCancelled: false, isEstimated: true },
    usage: { input: PROMPT_TOKENS, output: 4 },
  })
})
