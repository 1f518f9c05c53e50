/** How long the caller of an overloaded provider is asked to wait. D20. */
import t from 'tap'
import { DIALECTS } from '../../../../src/schemas/inference/text-request.ts'
import { AUTHORIZATION } from '../../../support/front.ts'
import { openChatProvider } from '../../../support/inference/chat-provider-front.ts'
import { refusesChat } from '../../../support/inference/fake-chat.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { streams } from '../../../support/inference/fake-stream.ts'
import { refusesGemini } from '../../../support/inference/gemini/fake-gemini.ts'
import { rigged } from '../../../support/inference/text-rig.ts'

const retryInfo = (retryDelay: unknown): object => ({
  details: [
    { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [] },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay },
  ],
})
const AFTER_7: Readonly<Record<string, string>> = { 'retry-after': '7' }

/** Answers of a provider, with the status and `Retry-After` that its callers get. */
const WAITS: readonly (readonly [FakeAnswer, number, string | null])[] = [
  [refusesGemini(429, retryInfo('34.07s')), 529, '35'],
  [refusesGemini(503, retryInfo('3s')), 502, '3'],
  [refusesGemini(429, retryInfo('3s'), AFTER_7), 529, '7'],
  [refusesGemini(503, {}, AFTER_7), 502, '7'],
  [refusesGemini(429, retryInfo('86400s')), 529, '600'],
  [refusesGemini(429, retryInfo('0s')), 529, '1'],
  [refusesGemini(429, retryInfo('-3s')), 529, '1'],
  [refusesGemini(429, retryInfo(34)), 529, '1'],
  [refusesGemini(429, { details: [null, 'x'] }), 529, '1'],
  [refusesGemini(529), 529, '1'],
  [refusesGemini(503), 502, null],
  [refusesGemini(500, retryInfo('3s'), AFTER_7), 502, null],
]

t.test('Retry-After is taken from the header of the provider, or from the RetryInfo of Google', async (t) => {
  const { send, first } = await rigged(t, 'gemini')
  for (const dialect of DIALECTS)
    for (const stream of [false, true])
      for (const [nth, [answer, status, wait]] of WAITS.entries()) {
        first.script(answer)
        const response = await send(dialect, { stream })
        await response.text()
        t.same([response.status, response.headers.get('retry-after')], [status, wait], `${dialect} ${nth}`)
      }
})

t.test('Retry-After is taken from the RetryInfo of an error inside a stream', async (t) => {
  const { send, first } = await rigged(t, 'gemini')
  for (const [code, status] of [
    [429, 529],
    [503, 502],
  ] as const) {
    first.script(streams([{ data: JSON.stringify({ error: { code, ...retryInfo('4.5s') } }) }]))
    const response = await send('chat', { stream: true })
    t.same([response.status, response.headers.get('retry-after')], [status, '5'])
  }
})

t.test('without either, Retry-After lasts until the breaker of the provider closes', async (t) => {
  let later = 0
  const { post, first } = await openChatProvider(t, { now: () => performance.now() + later })
  first.usually(refusesChat(429))
  const waits: (string | null)[] = []
  // Strikes of one caller open a breaker once they span ten seconds.
  for (let nth = 0; nth < 10; nth++) {
    if (nth === 9) later = 10_000
    const response = await post({ model: 'acme/one', messages: [{ role: 'user', content: 'Hi' }] })
    t.equal(response.status, 529)
    waits.push(response.headers.get('retry-after'))
  }
  t.same(waits, [...Array.from({ length: 9 }, () => '1'), '2'])
})

t.test('a failed token count has Retry-After, although it does not count for a breaker', async (t) => {
  const { url, first } = await rigged(t, 'gemini')
  for (const [answer, wait] of [
    [refusesGemini(429, retryInfo('34.07s')), '35'],
    [refusesGemini(429), '1'],
  ] as const) {
    first.script(answer)
    const response = await fetch(`${url}/api/v1/messages/count_tokens`, {
      method: 'POST',
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/one', messages: [{ role: 'user', content: 'Hi' }] }),
    })
    t.same([response.status, response.headers.get('retry-after')], [529, wait])
  }
})
