/** The fake provider does what it says. */
import { createConnection } from 'node:net'
import OpenAI from 'openai'
import t, { type Test } from 'tap'
import {
  answersChat,
  chatError,
  chatEvents,
  PROMPT_TOKENS,
  refusesChat,
  silentChat,
  strictChat,
  wholeChat,
} from './fake-chat.ts'
import { startFakeProvider, type FakeProvider } from './fake-provider.ts'
import { RequestReader } from './fake-request.ts'
import { bodyOf, Steps, streams, type StreamPlan } from './fake-stream.ts'

const ASKED = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }] }
const TEXT = 'Hello there, you'

async function open(t: Test): Promise<{ provider: FakeProvider; client: OpenAI }> {
  const provider = await startFakeProvider(answersChat())
  t.teardown(() => provider.close())
  return { provider, client: new OpenAI({ apiKey: 'k', baseURL: `${provider.origin}/v1`, maxRetries: 0 }) }
}

/** What the client reads of a stream: its text, and the name of the error that it ended with. */
async function read(
  client: OpenAI,
  more: object = {},
): Promise<{ text: string; total: number; error: string }> {
  const seen = { text: '', total: 0, error: '' }
  try {
    const stream = await client.chat.completions.create({ ...ASKED, ...more, stream: true })
    for await (const chunk of stream) {
      seen.text += chunk.choices[0]?.delta.content ?? ''
      seen.total = chunk.usage?.total_tokens ?? seen.total
    }
  } catch (error) {
    seen.error = error instanceof Error ? error.message : String(error)
  }
  return seen
}

t.test("OpenAI's client reads a whole answer and a stream, with usage where it asks", async (t) => {
  const { provider, client } = await open(t)
  const whole = await client.chat.completions.create({ ...ASKED, n: 2 })
  t.same(
    whole.choices.map(({ message }) => message.content),
    [TEXT, TEXT],
  )
  t.equal(whole.usage?.total_tokens, PROMPT_TOKENS + 8)
  t.same(await read(client), { text: TEXT, total: 0, error: '' })
  const asked = { stream_options: { include_usage: true } }
  t.same(await read(client, asked), { text: TEXT, total: PROMPT_TOKENS + 4, error: '' })
  t.same(
    provider.calls.map(({ generated, eventsSent }) => [generated, eventsSent]),
    [
      [8, 0],
      [4, 7],
      [4, 8],
    ],
  )
})

const PLANS: readonly (readonly [string, StreamPlan])[] = [
  ['CRLF', { lineEnd: '\r\n' }],
  ['CR', { lineEnd: '\r' }],
  ['a mark', { hasMark: true }],
  ['comments', { comment: 'PROCESSING' }],
  ['one write', { isMerged: true }],
  ['a write for each byte', { splitAt: 'every byte' }],
  ['places of its own', { splitAt: [1, 7, 300] }],
  ['its connection as the end', { framing: 'close' }],
  ['trailers', { trailers: 'x-a: b\r\n' }],
]
for (const [what, plan] of PLANS) {
  t.test(`a stream with ${what} is read like the plain one`, async (t) => {
    const { provider, client } = await open(t)
    provider.script(answersChat({}, plan))
    t.same(await read(client), { text: TEXT, total: 0, error: '' })
    t.equal(provider.calls[0]?.generated, 4)
  })
}

t.test('a body is the same bytes however it is split, and as short as it is cut', async (t) => {
  const { provider } = await open(t)
  const events = [{ data: 'one\nline' }, { event: 'named', data: 'two', tokens: 3 }]
  const all = bodyOf(events, { lineEnd: '\r\n', comment: 'c' })
  t.equal(
    all.toString(),
    ': c\r\n\r\ndata: one\r\ndata: line\r\n\r\n: c\r\n\r\nevent: named\r\ndata: two\r\n\r\n',
  )
  t.equal(bodyOf(events, { isTerminated: false }).toString().slice(-9), 'data: two')
  for (const splitAt of [[], [5], [1, 2, 3], 'every byte'] as const) {
    provider.script(streams(events, { lineEnd: '\r\n', comment: 'c', splitAt }))
    const answer = await fetch(`${provider.origin}/x`, { method: 'POST', body: '{}' })
    t.ok(all.equals(Buffer.from(await answer.arrayBuffer())))
  }
  t.ok(provider.calls.every(({ generated, eventsSent }) => generated === 3 && eventsSent === 2))
})

for (const ending of ['fin', 'rst'] as const) {
  t.test(`a stream that is cut by ${ending} is incomplete, and reports the generated tokens`, async (t) => {
    const { provider, client } = await open(t)
    provider.script((call, reply) => {
      const cutAt = bodyOf(chatEvents(call).slice(0, 3)).length + 10
      return answersChat({}, { cutAt, ending })(call, reply)
    })
    t.match(await read(client), { error: /terminated/ })
    t.equal(provider.calls[0]?.generated, 2)
    await provider.calls[0]?.closed
  })
}

t.test('an event leaves when the test says so, and a caller who leaves is seen', async (t) => {
  const { provider, client } = await open(t)
  const steps = new Steps()
  provider.script(answersChat({}, { steps }))
  steps.allow(3)
  const stream = await client.chat.completions.create({ ...ASKED, stream: true })
  let seen = 0
  for await (const _chunk of stream) if (++seen === 3) break
  const [call] = provider.calls
  await call?.closed
  t.match(call, { isClosed: true, eventsSent: 3, generated: 2 })
})

t.test('a provider that is silent, or goes silent, stays so until its connection is closed', async (t) => {
  const { provider, client } = await open(t)
  for (const answer of [silentChat, answersChat({}, { ending: 'silent' })]) {
    provider.script(answer)
    const leaving = new AbortController()
    const nth = provider.calls.length
    const reading = client.chat.completions
      .create({ ...ASKED }, { signal: leaving.signal })
      .catch((error: unknown) => error)
    const call = await provider.arrived(nth)
    leaving.abort()
    await reading
    if (answer === silentChat) await call.closed
  }
  t.pass('closed')
})

t.test('the usage is reported, left out, or a lie', async (t) => {
  const { provider, client } = await open(t)
  const asked = { stream_options: { include_usage: true } }
  for (const [usage, total] of [
    ['missing', 0],
    ['zero', 0],
    ['negative', -PROMPT_TOKENS - 4],
    ['fraction', PROMPT_TOKENS + 5],
    [{ total_tokens: 77 }, 77],
  ] as const) {
    provider.script(answersChat({ usage }), wholeChat({ usage }))
    t.equal((await read(client, asked)).total, total)
    t.equal((await client.chat.completions.create(ASKED)).usage?.total_tokens ?? 0, total)
  }
})

t.test('a refusal and an error in the middle are those of OpenAI', async (t) => {
  const { provider, client } = await open(t)
  provider.script(refusesChat(429, { message: 'Slow down.' }, { 'retry-after': '3' }))
  t.match(await read(client), { error: '429 Slow down.' })
  provider.script(streams((call) => [...chatEvents(call).slice(0, 2), chatError()]))
  t.match(await read(client), { text: 'Hello', error: /server had an error/ })
})

t.test('the strict mode refuses members that OpenAI does not know, wherever they stand', async (t) => {
  const { provider, client } = await open(t)
  provider.usually(strictChat())
  t.match(await read(client), { text: TEXT, error: '' })
  const message = { role: 'user', content: 'Hi' }
  const part = { type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }
  for (const [more, param] of [
    [{ top_k: 1 }, 'top_k'],
    [{ reasoning: { effort: 'low' } }, 'reasoning'],
    [{ messages: [message, { ...message, reasoning_details: [] }] }, 'messages[1].reasoning_details'],
    [{ messages: [{ role: 'user', content: [part] }] }, 'messages[0].content[0].cache_control'],
    [{ tools: [{ type: 'function', function: {}, cache_control: {} }] }, 'tools[0].cache_control'],
  ] as const)
    t.match(await read(client, more), { error: `400 Unknown parameter: '${param}'.` })
})

t.test('requests are kept byte by byte, in pieces, one after the other, and in chunks', async (t) => {
  const { provider } = await open(t)
  provider.usually(refusesChat(404))
  const texts = [
    'POST /a HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nContent-Length: 3\r\n\r\nab\n',
    'POST /b HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n',
    'GET /c HTTP/1.1\r\n\r\n',
  ]
  const socket = createConnection(Number(new URL(provider.origin).port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.write(texts.join(''))
  await provider.arrived(2)
  t.same(
    provider.calls.map(({ bytes }) => bytes.toString()),
    texts,
  )
  t.match(provider.calls[0], { method: 'POST', path: '/a', headers: { host: 'h', 'x-a': '1' } })
  const reader = new RequestReader()
  const found = [...Buffer.from(texts.join(''))].flatMap((byte) => {
    reader.push(Buffer.from([byte]))
    return reader.next()?.body.toString() ?? []
  })
  t.same(found, ['ab\n', 'abc', ''])
})
