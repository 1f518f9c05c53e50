import t from 'tap'
import { FALLBACK_MODELS_MAX } from '../../../../../src/schemas/inference/inference-limits.ts'
import { openChat } from '../../../../support/inference/chat-front.ts'

const hello = { model: 'sluice/echo-1', messages: [{ role: 'user', content: 'Hello there, you' }] }

t.test('a call names FALLBACK_MODELS_MAX models at most', async (t) => {
  const { post } = await openChat(t)
  const of = (count: number) =>
    post({ ...hello, models: Array.from({ length: count }, () => 'sluice/echo-1') })
  t.equal((await of(FALLBACK_MODELS_MAX)).status, 200)
  t.match(await (await of(FALLBACK_MODELS_MAX + 1)).json(), {
    error: { type: 'body_invalid', param: 'models' },
  })
})

t.test('the refusal of an unsupported feature names it', async (t) => {
  const { post } = await openChat(t)
  const plugged = await post({ ...hello, plugins: [{ id: 'web' }] })
  t.match(await plugged.json(), {
    error: { code: 400, type: 'not_supported', param: 'plugins', message: /\/plugins is not available/ },
  })
  t.equal(plugged.headers.get('x-should-retry'), 'false')
})

t.test('the built-in model keeps no bytes of the request bodies in memory', async (t) => {
  const { post, front } = await openChat(t)
  for (const chars of [10, 100_000, 1_000_000]) {
    const messages = [{ role: 'user', content: 'x'.repeat(chars) }, ...hello.messages]
    const answer = await post({ ...hello, model: 'sluice/echo-1:slow', stream: true, messages })
    t.same([answer.status, front.load.calls, front.load.bodyBytes], [200, 1, 0], `${chars} characters`)
    await answer.body?.cancel()
    while (front.load.calls > 0) await new Promise(setImmediate)
  }
})
