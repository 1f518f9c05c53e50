/**
 * Whole answers stay in the read buffer of their provider's connection for one turn of the loop. These tests
 * overwrite the bytes after that turn, so that later readers need a copy.
 */
import t from 'tap'
import { AUTHORIZATION } from '../../../../support/front.ts'
import { openChatProvider } from '../../../../support/inference/chat-provider-front.ts'
import { chatEvents, wholeChat, wholeJson } from '../../../../support/inference/fake-chat.ts'
import { DIALECT_ROWS, openDialect } from '../../../../support/inference/dialect-rows.ts'
import type { FakeAnswer } from '../../../../support/inference/fake-provider.ts'
import { bodyOf } from '../../../../support/inference/fake-stream.ts'
import { rigged } from '../../../../support/inference/text-rig.ts'
import { keptSpend } from '../../../../support/money/free-spend.ts'
import { until } from '../../../../support/wait.ts'
import { rawClient, requestText } from '../../../../support/wire/raw-http.ts'
import { TRANSLATED_INLINE_PARTS_MAX } from '../../../../../src/server/upstream/inference/translated/translation-job.ts'

const HEADERS = { authorization: AUTHORIZATION, 'content-type': 'application/json' }
/** A text that arrives in one read of a connection, and differs for each answer. */
const textOf = (nth: number): string => String(nth).padStart(5, '0').repeat(1_400)
const says = (text: string): FakeAnswer => wholeChat({ words: [text] })
/** More objects than are translated on the loop. */
const BRACES = '{'.repeat(3 * TRANSLATED_INLINE_PARTS_MAX)

/** The bodies of the answers that have come whole. */
function bodiesIn(text: string): readonly string[] {
  const bodies: string[] = []
  for (let at = 0; ;) {
    const end = text.indexOf('\r\n\r\n', at)
    const bytes = Number(/content-length: (\d+)/i.exec(text.slice(at, end))?.[1] ?? 0)
    if (end < 0 || text.length < end + 4 + bytes) return bodies
    bodies.push(text.slice(end + 4, end + 4 + bytes))
    at = end + 4 + bytes
  }
}

function statedIn(json: string): string | undefined {
  const { choices } = JSON.parse(json) as { choices: readonly { message: { content: string } }[] }
  return choices[0]?.message.content
}

for (const row of DIALECT_ROWS)
  t.test(`${row.name}: an answer that is sent in a later turn equals the provider's answer`, async (t) => {
    const { port, first } = await openDialect(t, row)
    if (row.name === 'chat') first.usually(says(textOf(1)))
    // The reply to a body without a length is the last one of its connection, and leaves a turn later.
    const client = rawClient(port)
    const body = JSON.stringify(row.asks('acme/chat', 'Hello there'))
    const head = requestText(`POST /api/v1${row.path}`, { ...HEADERS, 'transfer-encoding': 'chunked' })
    client.send(`${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)
    const text = await client.closed()
    t.match(text, /^HTTP\/1\.1 200/)
    t.ok(text.includes(row.name === 'chat' ? textOf(1) : 'Hello there, you'))
  })

t.test('answers to a slow reader equal the provider’s answers', async (t) => {
  const { port, first, egress } = await openChatProvider(t)
  const client = rawClient(port)
  t.teardown(() => client.destroy())
  client.socket.pause()
  const body = JSON.stringify({ model: 'acme/chat', messages: [{ role: 'user', content: 'x' }] })
  const request = requestText(
    'POST /api/v1/chat/completions',
    { ...HEADERS, 'content-length': String(body.length) },
    body,
  )
  let asked = 0
  while (egress.load.heldBytes === 0) {
    first.script(says(textOf(asked)))
    client.send(request)
    await first.arrived(asked++)
    await until(() => egress.load.calls === 0)
  }
  client.socket.resume()
  await until(() => bodiesIn(client.text).length === asked)
  for (const [nth, json] of bodiesIn(client.text).entries())
    t.ok(statedIn(json) === textOf(nth), `answer ${nth}`)
  t.equal(egress.load.heldBytes, 0)
})

t.test("an answer whose caller has disconnected is charged by the provider's usage", async (t) => {
  const spend = keptSpend()
  const { port, first, rest } = await openChatProvider(t, { spend })
  let answer = (): void => undefined
  const held = new Promise<void>((resolve) => (answer = resolve))
  first.usually(async (call, reply) => {
    await held
    await says(textOf(7))(call, reply)
  })
  const client = rawClient(port)
  const body = JSON.stringify({ model: 'acme/chat', messages: [{ role: 'user', content: 'x' }] })
  client.send(
    requestText('POST /api/v1/chat/completions', { ...HEADERS, 'content-length': String(body.length) }, body),
  )
  await first.arrived(0)
  client.destroy()
  answer()
  t.equal(await rest(), 0)
  t.match(spend.holds[0]?.end, { isEstimated: false, provider: 'first' })
})

t.test('an answer that a worker thread translates equals the provider’s answer', async (t) => {
  const { send, first, rest } = await rigged(t, 'chat')
  first.usually(says(BRACES))
  const answer = (await (await send('messages')).json()) as { content: readonly { text: string }[] }
  t.ok(answer.content[0]?.text === BRACES)
  t.equal(await rest(), 0)
})

t.test('a whole answer that a provider sends as events is complete, also in a worker thread', async (t) => {
  const { post, first, rest } = await openChatProvider(t)
  for (const text of ['Hello there', BRACES]) {
    first.usually((call, reply) =>
      wholeJson(200, bodyOf(chatEvents(call, { words: [text] })).toString())(call, reply),
    )
    const reply = await post({ model: 'acme/chat', messages: [{ role: 'user', content: 'x' }] })
    t.equal(reply.status, 200)
    t.ok(statedIn(await reply.text()) === text)
  }
  t.equal(await rest(), 0)
})
