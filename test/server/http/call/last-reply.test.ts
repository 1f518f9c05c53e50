import { once } from 'node:events'
import t, { type Test } from 'tap'
import type { HttpOptions } from '../../../../src/server/http/front.ts'
import { AUTHORIZATION, openFront, operation, patient } from '../../../support/front.ts'
import { rawClient, requestText, type RawClient } from '../../../support/wire/raw-http.ts'

const MIB = 1024 * 1024
const NOTHING = { calls: 0, timers: 0, bodyBytes: 0 }
const authorized = { authorization: AUTHORIZATION }
const body = '{"model":"m","input":"x"}'
const chunked = requestText(
  'POST /api/v1/echo',
  { ...authorized, 'transfer-encoding': 'chunked' },
  `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
)
const second = requestText('GET /api/v1/second', authorized)
const parts = [Buffer.alloc(4 * MIB, 'a'), Buffer.alloc(4 * MIB, 'b'), Buffer.from('tail')]
const PARTS_BYTES = 8 * MIB + 4
const ANSWER = 'x'.repeat(10_000)

/** `echo` answers in large parts, `second` with one small text. */
const open = (t: Test, more: Partial<HttpOptions> = {}) =>
  openFront(
    t,
    [
      operation({
        run: () => ({ ok: true, value: { kind: 'bytes', parts, contentType: 'application/json' } }),
      }),
      operation({
        id: 'test.second',
        method: 'get',
        path: '/second',
        input: {},
        run: () => ({ ok: true, value: { kind: 'json', value: ANSWER } }),
      }),
    ],
    more,
  )

/** A client that does not read until it is resumed. */
async function silent(port: number): Promise<RawClient> {
  const client = rawClient(port)
  client.socket.pause()
  await once(client.socket, 'connect')
  return client
}

t.test('pages that are requested in a row and never read do not accumulate in memory', async (t) => {
  const { port, settled, front } = await open(t)
  const client = await silent(port)
  client.send(requestText('GET /docs/guides-index.js'))
  // The page is loaded at its first use.
  client.socket.resume()
  await client.untilBody(MIB / 4)
  client.socket.pause()
  client.send(requestText('GET /docs/guides-index.js').repeat(300))
  while (settled.length < 300 && !settled.some((call) => call.isClientGone)) await new Promise(setImmediate)
  client.socket.resume()
  await client.closed()
  t.ok(settled.length < 30, `${settled.length} pages were written unread`)
  t.same(front.load, NOTHING)
})

t.test('small unread answers end their connection once the socket buffer is full', async (t) => {
  const { port, settled, front } = await open(t)
  const client = await silent(port)
  const isOver = (): boolean => client.isClosed || settled.some((call) => call.isClientGone)
  for (let sent = 0; sent < 20_000 && !isOver();) {
    client.send(second.repeat(20))
    sent += 20
    // One batch in one read: a request cut in its first line would end the connection by itself. The last of
    // it may be the one that the socket did not take: it waits until the next batch comes.
    while (settled.length + front.load.calls < sent && !isOver()) await new Promise(setImmediate)
  }
  t.ok(settled.length < 10_000, `${settled.length} answers were written unread`)
  t.equal(settled.at(-1)?.isClientGone, true)
  t.same(front.load, NOTHING)
  client.destroy()
})

t.test(
  'a small answer that the socket did not accept is sent whole when its client reads again',
  async (t) => {
    const { port, settled, front } = await open(t)
    const client = await silent(port)
    for (let sent = 1; front.load.calls === 0; sent++) {
      client.send(second)
      while (settled.length + front.load.calls < sent) await new Promise(setImmediate)
    }
    const answers = settled.length + 1
    client.socket.resume()
    const text = await client.until(/x"(?=HTTP|$)/, answers)
    t.equal(text.split(`"${ANSWER}"`).length - 1, answers)
    client.send(second)
    t.ok(await client.until(/x"(?=HTTP|$)/, answers + 1), 'and the connection lives on')
    client.destroy()
  },
)

t.test('a large answer to a chunked request is sent whole and ends its connection', async (t) => {
  const { port, settled, front } = await open(t)
  const client = rawClient(port)
  client.send(chunked)
  const text = await client.closed()
  t.match(text.slice(0, 1_000), /^HTTP\/1\.1 200 OK\r\n[\s\S]*connection: close/)
  t.equal(text.slice(text.indexOf('\r\n\r\n') + 4).length, PARTS_BYTES)
  t.match(text.slice(-6), 'bbtail')
  t.match(settled, [{ status: 200, isClientGone: false }])
  t.same(front.load, NOTHING)
})

t.test('a slow reader gets the whole last answer of its connection', async (t) => {
  const { port, settled } = await open(t)
  const client = await silent(port)
  client.send(chunked)
  for (let i = 0; i < 30 && !client.isClosed; i++) {
    client.socket.resume()
    await new Promise(setImmediate)
    client.socket.pause()
    await new Promise(setImmediate)
  }
  client.socket.resume()
  const text = await client.closed()
  t.equal(text.slice(text.indexOf('\r\n\r\n') + 4).length, PARTS_BYTES)
  t.match(settled, [{ status: 200, isClientGone: false }])
})

t.test('a request that arrives after a chunked one never runs', async (t) => {
  for (const isRead of [true, false]) {
    const { port, settled, untilSettled } = await open(t)
    const client = await silent(port)
    if (isRead) client.socket.resume()
    client.send(chunked)
    if (isRead) await client.untilBody(PARTS_BYTES)
    else
      while (settled.length === 0 && client.socket.bytesWritten < chunked.length)
        await new Promise(setImmediate)
    client.send(second)
    client.socket.resume()
    await client.closed()
    await untilSettled(1)
    t.same(
      settled.map((call) => call.operation),
      ['test.echo'],
      isRead ? 'after the answer' : 'before its end',
    )
  }
})

t.test('answers without a body, perhaps unread, sometimes end their connection', async (t) => {
  const { port, settled } = await open(t, { random: () => 0 })
  const client = rawClient(port)
  client.send(requestText('HEAD /api/v1/second', authorized))
  await client.until(/\r\n\r\n/)
  client.send(second)
  const text = await client.closed()
  t.match(
    text,
    new RegExp(
      `^HTTP/1\\.1 200 OK\\r\\n[\\s\\S]*connection: close[\\s\\S]*content-length: ${ANSWER.length + 2}\\r\\n\\r\\n$`,
      'i',
    ),
  )
  t.same(
    settled.map((call) => call.operation),
    ['test.second'],
  )
})

t.test('preflights, whose answers may be unread, sometimes end their connection', async (t) => {
  const { port, settled } = await open(t, { random: () => 0, corsOrigins: ['*'] })
  const client = rawClient(port)
  const preflight = { origin: 'https://app.example', 'access-control-request-method': 'GET' }
  client.send(requestText('OPTIONS /api/v1/second', preflight))
  await client.until(/\r\n\r\n/)
  client.send(second)
  t.match(
    await client.closed(),
    /^HTTP\/1\.1 204 No Content\r\n[\s\S]*connection: close\r\n[\s\S]*\r\n\r\n$/i,
  )
  t.equal(settled.length, 1)
})

t.test('answers only a few of many preflights that are sent in a row and never read', async (t) => {
  let asked = 0
  const { port, settled } = await open(t, { random: () => (asked++ % 32) / 32, corsOrigins: ['*'] })
  const client = await silent(port)
  asked = 1
  const preflight = { origin: 'https://app.example', 'access-control-request-method': 'GET' }
  client.send(requestText('OPTIONS /api/v1/second', preflight).repeat(1_000))
  client.socket.resume()
  await client.closed()
  t.equal(settled.length, 32, `${settled.length}`)
})

t.test('a refusal does not wait for a body still being sent, and discards it afterwards', async (t) => {
  for (const [line, authorization] of [
    ['POST /nowhere', AUTHORIZATION],
    ['POST /api/v1/echo', 'Bearer nobody'],
  ] as const) {
    const { port, front } = await open(t, { timers: patient() })
    const client = rawClient(port)
    client.send(
      requestText(
        line,
        { authorization, connection: 'close', 'content-length': String(body.length) },
        body.slice(0, 5),
      ),
    )
    t.match(await client.until(/\}$/), /^HTTP\/1\.1 40[14] [\s\S]*connection: close/i)
    for (let turns = 0; turns < 50; turns++) await new Promise(setImmediate)
    t.notOk(client.isClosed, 'who writes to a connection that is closed does not read what came before')
    client.send(body.slice(5))
    await client.closed()
    t.same(front.load, NOTHING)
  }
})

t.test('the end of a drain does not wait for the rest of a refused body', async (t) => {
  const { port, front } = await open(t, { timers: patient() })
  const client = rawClient(port)
  const head = { authorization: 'Bearer nobody', connection: 'close', 'content-length': String(body.length) }
  client.send(requestText('POST /api/v1/echo', head, body.slice(0, 5)))
  await client.until(/\}$/)
  await front.drain(0)
  t.match(await client.closed(), /^HTTP\/1\.1 401 [\s\S]*\}$/)
  t.same(front.load, NOTHING)
})
