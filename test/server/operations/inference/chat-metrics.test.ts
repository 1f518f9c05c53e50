/** What the metrics of streams say of chats. */
import t from 'tap'
import { openChatProvider } from '../../../support/inference/chat-provider-front.ts'
import { answersChat, refusesChat } from '../../../support/inference/fake-chat.ts'
import { Steps } from '../../../support/inference/fake-stream.ts'
import { until } from '../../../support/wait.ts'

const hello = { model: 'acme/chat', messages: [{ role: 'user', content: 'Hello there' }], stream: true }

t.test('each stream is committed once and ends once, by its provider', async (t) => {
  const seen: (readonly unknown[])[] = []
  const { post, first, second, rest } = await openChatProvider(t, {
    streams: {
      committed: (provider, ms, failed) => void seen.push(['committed', provider, ms >= 0, failed]),
      ended: (...facts) => void seen.push(['ended', ...facts]),
    },
  })
  const after = async (body: object, signal?: AbortSignal): Promise<readonly (readonly unknown[])[]> => {
    await post(body, {}, signal)
      .then((response) => response.text())
      .catch(() => undefined)
    await rest()
    return seen.splice(0)
  }
  t.same(await after(hello), [
    ['committed', 'first', true, 0],
    ['ended', 'first', null, false],
  ])
  first.script(refusesChat(500))
  t.same(await after(hello), [
    ['committed', 'second', true, 1],
    ['ended', 'second', null, false],
  ])
  first.script(answersChat({ usage: 'missing' }))
  t.same((await after(hello))[1], ['ended', 'first', null, true])
  first.script(answersChat({}, { cutAt: 700, ending: 'rst' }))
  t.same(await after(hello), [
    ['committed', 'first', true, 0],
    ['ended', 'first', 'upstream_failed', true],
  ])
  const silent = new Steps()
  silent.allow(2)
  for (const provider of [first, second]) provider.usually(answersChat({}, { steps: silent }))
  const leaving = new AbortController()
  const left = after(hello, leaving.signal)
  await until(() => seen.length === 1)
  leaving.abort()
  t.match(await left, [['committed'], ['ended', /first|second/, 'client_gone', true]])
  t.same(await after({ ...hello, model: 'acme/none' }), [], 'a call that is refused is no stream')
})

t.test('a whole answer is no stream', async (t) => {
  const seen: unknown[] = []
  const { post } = await openChatProvider(t, {
    streams: { committed: () => void seen.push(1), ended: () => void seen.push(2) },
  })
  t.equal((await post({ ...hello, stream: false })).status, 200)
  t.equal((await post({ ...hello, model: 'sluice/echo-1', stream: false })).status, 200)
  t.same(seen, [])
  await (await post({ ...hello, model: 'sluice/echo-1' })).text()
  await until(() => seen.length === 2)
})
