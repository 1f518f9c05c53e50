/** Progress of open streams that a front reports to its journal. D28. */
import t from 'tap'
import { AUTHORIZATION } from '../../../support/front.ts'
import { openChatProvider, type ChatProviderOptions } from '../../../support/inference/chat-provider-front.ts'
import { chatEvents } from '../../../support/inference/fake-chat.ts'
import { messageEvents } from '../../../support/inference/fake-messages.ts'
import type { FakeCall } from '../../../support/inference/fake-provider.ts'
import { responseEvents } from '../../../support/inference/fake-responses.ts'
import { streams, Steps, type FakeEvent } from '../../../support/inference/fake-stream.ts'
import { openMessagesProvider } from '../../../support/inference/messages-front.ts'
import { keptSpend, type Held } from '../../../support/money/free-spend.ts'
import type { CallProgress } from '../../../../src/server/ports/money/money.ts'
import { present } from '../../../support/must.ts'
import type { Teardown } from '../../../support/teardown.ts'
import { until } from '../../../support/wait.ts'

/** The first progress of the first call that covers several words. */
async function reportedWords({ holds }: { readonly holds: readonly Held[] }): Promise<CallProgress> {
  const logged = () => holds[0]?.progress.find(({ text }) => (text?.outputTokens ?? 0) > 2)
  await until('it has told of words', () => logged() !== undefined)
  return present(logged())
}

const WORDS = ['One', ' two', ' three', ' four']

t.test('an open stream reports its charge so far, and nothing after its end', async (t) => {
  const spend = keptSpend()
  const front = await openChatProvider(t, { spend, firstProvider: { on_leave: 'drain' } })
  const steps = new Steps()
  front.first.usually(streams((call) => chatEvents(call, { words: WORDS }), { steps }))
  const messages = [{ role: 'user', content: 'x'.repeat(400) }]
  const asked = front.post({ model: 'acme/one', messages, stream: true, session_id: 'a session' })
  await front.first.arrived(0)
  steps.allow(3)
  const response = await asked
  const reported = await reportedWords(spend)
  t.match(reported, {
    provider: 'first',
    model: 'acme/one',
    isByok: false,
    isEstimated: true,
    isDrained: true,
  })
  const { tokens, costNano, text } = reported
  const { outputTokens = 0 } = text ?? {}
  t.ok(tokens > 100 && outputTokens > 2, `${tokens} and ${outputTokens} tokens`)
  // A prompt's token costs a millionth of a USD, one of the answer twice as much.
  t.equal(costNano, 1_000 * tokens + 2_000 * outputTokens)
  const note = JSON.parse(reported.note ?? '') as Record<string, unknown>
  t.match(note, { id: /^gen_/, sessionId: 'a session', attempts: 1, dropped: [], images: 0 })
  t.equal(note['id'], response.headers.get('x-generation-id'))
  t.equal(typeof note['firstOutputMs'], 'number')
  steps.allow(6)
  await response.text()
  t.type(spend.holds[0]?.end, 'object')
  const count = spend.holds[0]?.progress.length
  const another = front.post({ model: 'acme/one', messages, stream: true })
  await front.first.arrived(1)
  steps.allow(3)
  await until('another stream has told twice', () => (spend.holds[1]?.progress.length ?? 0) > 1)
  t.equal(spend.holds[0]?.progress.length, count)
  steps.allow(100)
  await (await another).text()
})

t.test('reports an id that the provider sends late as soon as it is known', async (t) => {
  const spend = keptSpend()
  const front = await openChatProvider(t, { spend })
  const steps = new Steps()
  const events = (call: FakeCall): readonly FakeEvent[] =>
    chatEvents(call, { words: WORDS }).map((event, nth) => (nth < 3 ? withoutId(event) : event))
  front.first.usually(streams(events, { steps }))
  const asked = front.post({ model: 'acme/one', messages: [{ role: 'user', content: 'x' }], stream: true })
  const lastId = (): unknown => {
    const note = spend.holds[0]?.progress.at(-1)?.note
    return note === undefined ? undefined : (JSON.parse(note) as Record<string, unknown>)['upstreamId']
  }
  await front.first.arrived(0)
  steps.allow(3)
  const response = await asked
  await until('it has told without an id', () => lastId() === null)
  steps.allow(1)
  await until('it has told the id', () => lastId() === 'chatcmpl-fake0001')
  steps.allow(100)
  await response.text()
})

t.test('the built-in model reports its own count, and a whole answer reports nothing', async (t) => {
  const spend = keptSpend()
  const { post } = await openChatProvider(t, { spend })
  const messages = [{ role: 'user', content: 'word '.repeat(200) }]
  const leaving = new AbortController()
  const response = await post({ model: 'sluice/echo-1:slow', messages, stream: true }, {}, leaving.signal)
  await until('it has told', () => (spend.holds[0]?.progress.length ?? 0) > 0)
  t.match(spend.holds[0]?.progress[0], { provider: 'local', tokens: 200, costNano: 0 })
  leaving.abort()
  await response.text().catch(() => null)
  await (await post({ model: 'sluice/echo-1', messages })).json()
  t.same(spend.holds[1]?.progress, [])
})

function withoutId(event: FakeEvent): FakeEvent {
  const { id: _, ...others } = JSON.parse(event.data) as Record<string, unknown>
  return { ...event, data: JSON.stringify(others) }
}

const FORMS = [
  {
    name: 'messages',
    events: messageEvents().slice(0, -2),
    open: openMessagesProvider,
    path: '/messages',
    body: { max_tokens: 50, messages: [{ role: 'user', content: 'Hello there' }] },
  },
  {
    name: 'responses',
    events: responseEvents().slice(0, -1),
    open: (t: Teardown, options: ChatProviderOptions) =>
      openChatProvider(t, { providers: { speaks: ['responses'] }, ...options }),
    path: '/responses',
    body: { input: 'Hello there' },
  },
]

for (const { name, events, open, path, body } of FORMS) {
  t.test(`an open stream of ${name} reports its charge so far`, async (t) => {
    const spend = keptSpend()
    const { first, url } = await open(t, { spend })
    first.usually(streams(events, { ending: 'silent' }))
    const leaving = new AbortController()
    const response = await fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/one', stream: true, ...body }),
      signal: leaving.signal,
    })
    t.equal(response.status, 200)
    const reported = await reportedWords(spend)
    t.match(reported, { provider: 'first', model: 'acme/one', isEstimated: true, isDrained: false })
    const { tokens, costNano, text } = reported
    const { outputTokens = 0 } = text ?? {}
    t.ok(tokens > 0 && outputTokens > 2, `${tokens} and ${outputTokens} tokens`)
    t.equal(costNano, 1_000 * tokens + 2_000 * outputTokens)
    t.match(JSON.parse(reported.note ?? ''), { id: /^gen_/, upstreamId: /^(msg|resp)_/ })
    leaving.abort()
    await t.rejects(response.text())
  })
}
