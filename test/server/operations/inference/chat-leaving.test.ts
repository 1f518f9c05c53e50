/** Callers who leave while a provider is silent. D27. */
import t from 'tap'
import { openChatProvider } from '../../../support/inference/chat-provider-front.ts'
import { silentChat } from '../../../support/inference/fake-chat.ts'
import { keptSpend } from '../../../support/money/free-spend.ts'
import { until } from '../../../support/wait.ts'

const messages = [{ role: 'user', content: 'Hello there' }]

t.test('a caller who leaves before the first output ends the call of the provider at once', async (t) => {
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

t.test('a connection serves on behind a stream, and several streams', async (t) => {
  const { post } = await openChatProvider(t)
  for (let nth = 0; nth < 5; nth++) {
    const response = await post({ model: 'acme/one', messages, stream: true })
    t.match(await response.text(), /\[DONE\]\n\n$/)
  }
})
