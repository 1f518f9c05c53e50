import { createServer, type AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { CallEnded } from '../../../src/schemas/values/call-ended.ts'
import { UPSTREAM_STREAM_BYTES_MAX } from '../../../src/schemas/models/provider-limits.ts'
import { bytesServer } from '../../support/wire/raw-server.ts'
import { exchangeRequest, rigged, textOf, type Rig } from '../../support/egress/vetted-stand.ts'
import { still, until } from '../../support/wait.ts'

const PIECE = Buffer.alloc(64 * 1024, 'x')
const MANY = 400

/** A body of `count` pieces that counts the pieces taken, and knows whether it was destroyed. */
function pieces(count: number): { body: Readable; taken: () => number } {
  let taken = 0
  const body = new Readable({
    highWaterMark: 1,
    read() {
      this.push(taken < count ? (taken++, PIECE) : null)
    },
  })
  return { body, taken: () => taken }
}

/** A server that writes these bytes for each connection once it has read something, whatever that was. */
async function says(test: Test, text: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.write(text))
    test.teardown(() => socket.destroy())
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  test.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

for (const isKnown of [true, false]) {
  t.test(
    `a streamed body ${isKnown ? 'of known length goes with its length' : 'of unknown length goes in chunks'}, and arrives whole`,
    async (t) => {
      const { target, exchange, rest } = await rigged(t)
      target.answer((req, res) => {
        let bytes = 0
        req.on('data', (chunk: Buffer) => void (bytes += chunk.length))
        req.on('end', () =>
          res.end(`${bytes} ${req.headers['content-length']} ${req.headers['transfer-encoding']}`),
        )
      })
      const { body } = pieces(10)
      const bytes = 10 * PIECE.length
      const outcome = await exchange({ method: 'PUT', body, bodyBytes: isKnown ? bytes : null })
      t.equal(await textOf(outcome), isKnown ? `${bytes} ${bytes} undefined` : `${bytes} undefined chunked`)
      await rest()
    },
  )
}

t.test('a body of bytes is sent with its length, with any method', async (t) => {
  const { target, exchange } = await rigged(t)
  target.answer(
    (req, res) =>
      void req.on('data', (chunk: Buffer) =>
        res.end(`${req.method} ${req.headers['content-length']} ${chunk.toString()}`),
      ),
  )
  t.equal(await textOf(await exchange({ method: 'DELETE', body: Buffer.from('bytes') })), 'DELETE 5 bytes')
})

t.test('a body is read only as fast as the destination accepts it', async (t) => {
  const { target, exchange } = await rigged(t)
  let resume: () => void = () => undefined
  target.answer((req, res) => void (resume = () => void req.resume().on('end', () => res.end('whole'))))
  const { body, taken } = pieces(MANY)
  const outcome = exchange({ method: 'POST', body })
  await until(() => taken() > 0)
  const before = await still(taken)
  t.ok(before < MANY, `${before} of ${MANY} pieces were read`)
  resume()
  t.equal(await textOf(await outcome), 'whole')
})

t.test('an answer is read only as fast as its reader asks for it', async (t) => {
  const { target, exchange } = await rigged(t)
  let sent = 0
  target.answer(
    (_req, res) =>
      void pieces(MANY)
        .body.on('data', (chunk: Buffer) => void (sent += chunk.length))
        .pipe(res),
  )
  const outcome = await exchange()
  // A machine that is busy stands still before that too.
  await until(() => sent > UPSTREAM_STREAM_BYTES_MAX / 2)
  await still(() => sent)
  t.ok(sent < MANY * PIECE.length, `${sent} bytes were sent`)
  t.equal((await textOf(outcome)).length, MANY * PIECE.length)
})

for (const [title, ending, length, is] of [
  ['ends its connection after an answer of known length', 'end', UPSTREAM_STREAM_BYTES_MAX, 'whole'],
  ['ends its answer with its connection', 'end', null, 'whole'],
  [
    'ends its connection before the end of its answer',
    'end',
    UPSTREAM_STREAM_BYTES_MAX + 1,
    'upstream_failed',
  ],
  ['breaks its connection', 'resetAndDestroy', UPSTREAM_STREAM_BYTES_MAX + 1, 'upstream_failed'],
] as const) {
  t.test(`the process survives a destination that ${title} while its answer is not read`, async (t) => {
    const { origin, rest } = await rigged(t)
    const port = await bytesServer(t, (socket) => {
      const known = length === null ? '' : `content-length: ${length}\r\n`
      socket.write(`HTTP/1.1 200 OK\r\nconnection: close\r\n${known}\r\n`)
      socket.write(Buffer.alloc(UPSTREAM_STREAM_BYTES_MAX, 'x'), () => socket[ending]())
    })
    const outcome = await origin({ port }).exchange(exchangeRequest())
    await rest()
    const text = await textOf(outcome)
    t.equal(text === 'x'.repeat(UPSTREAM_STREAM_BYTES_MAX) ? 'whole' : text, is)
  })
}

t.test('request and response bodies flow at the same time', async (t) => {
  const { target, exchange } = await rigged(t)
  target.answer((req, res) => void req.pipe(res))
  const outcome = await exchange({ method: 'POST', body: pieces(MANY).body })
  t.equal((await textOf(outcome)).length, MANY * PIECE.length)
})

t.test(
  'an answer that completes while the request body is still sent stops the body and closes the connection',
  async (t) => {
    const { target, exchange, rest } = await rigged(t)
    target.answer((_req, res) => void res.writeHead(413, { 'content-length': 5 }).end('early'))
    const endless = pieces(Infinity)
    const outcome = await exchange({ method: 'POST', body: endless.body })
    t.match(outcome, { value: { status: 413 } })
    t.equal(await textOf(outcome), 'early')
    await rest()
    await until(() => endless.body.destroyed && target.open === 0)
    t.pass('stopped')
  },
)

t.test('a body that fails, or is destroyed, is client_gone, and the connection ends', async (t) => {
  for (const cause of [new Error('gone'), undefined]) {
    const { target, exchange, rest } = await rigged(t)
    const { body } = pieces(Infinity)
    target.answer((req) => void req.once('data', () => body.destroy(cause)).on('error', () => undefined))
    t.equal(await textOf(await exchange({ method: 'POST', body })), 'client_gone')
    await rest()
    await until(() => target.open === 0)
  }
})

t.test('a body that ends before its length is client_gone', async (t) => {
  const { target, exchange } = await rigged(t)
  target.answer((req) => void req.resume())
  t.equal(
    await textOf(await exchange({ method: 'POST', body: pieces(1).body, bodyBytes: 2 * PIECE.length })),
    'client_gone',
  )
})

t.test('the body of a refused destination may be destroyed later with an error', async (t) => {
  const { exchange } = await rigged(t, { allow: [] })
  const { body } = pieces(1)
  t.equal(await textOf(await exchange({ method: 'POST', body })), 'destination_refused')
  body.destroy(new Error('the caller left'))
  await new Promise((next) => setImmediate(next))
})

for (const [method, status, headers] of [
  ['HEAD', 200, { 'content-length': '10' }],
  ['GET', 204, {}],
  ['GET', 304, { 'content-length': '10' }],
] as const) {
  t.test(`${method} with ${status} has no body, whatever its content-length`, async (t) => {
    const { target, exchange, rest } = await rigged(t)
    target.answer((_req, res) => void res.writeHead(status, headers).end())
    const outcome = await exchange({ method })
    t.match(outcome, { value: { status } })
    t.equal(await textOf(outcome), '')
    await rest()
  })
}

t.test('informational answers and trailers are dropped', async (t) => {
  const { origin } = await rigged(t)
  const last =
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-end\r\n\r\n4\r\nbody\r\n0\r\nx-end: 1\r\n\r\n'
  const port = await says(
    t,
    `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n${last}`,
  )
  const outcome = await origin({ port }).exchange(exchangeRequest())
  if (!outcome.ok) throw new Error(outcome.failure.name)
  t.same(outcome.value.headers, ['transfer-encoding', 'chunked', 'trailer', 'x-end'])
  t.equal(await textOf(outcome), 'body')
})

for (const [what, text] of [
  [
    'an upgrade that was not requested',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
  ],
  ['an answer that is not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
  ['headers without end', `HTTP/1.1 200 OK\r\n${'x-long: y\r\n'.repeat(20_000)}`],
] as const) {
  t.test(`${what} is upstream_failed`, async (t) => {
    const { origin } = await rigged(t)
    const port = await says(t, text)
    t.equal(await textOf(await origin({ port }).exchange(exchangeRequest())), 'upstream_failed')
  })
}

t.test(
  'an answer that breaks off ends its reader with upstream_failed, and never counts as whole',
  async (t) => {
    const { target, exchange, rest } = await rigged(t)
    target.answer((_req, res) => {
      res.writeHead(200, { 'content-length': 1_000 }).write('half')
      setImmediate(() => res.destroy())
    })
    t.equal(await textOf(await exchange()), 'upstream_failed')
    await rest()
  },
)

t.test('an answer that ends with its connection is not whole if the connection breaks', async (t) => {
  const { origin, rest } = await rigged(t)
  let reset = (): void => undefined
  const port = await bytesServer(t, (socket) => {
    reset = () => void socket.resetAndDestroy()
    socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhalf')
  })
  const outcome = await origin({ port }).exchange(exchangeRequest())
  const body = outcome.ok ? outcome.value.body : null
  t.same(await body?.next(), { ok: true, value: Buffer.from('half') })
  reset()
  t.match(await body?.next(), { ok: false, failure: { name: 'upstream_failed' } })
  await rest()
})

t.test('asks for the begin deadline again each time it expires', async (t) => {
  const { target, exchange, rest } = await rigged(t)
  target.answer(() => undefined)
  let asked = 0
  const outcome = await exchange({ beginsBy: () => performance.now() + (asked++ < 5 ? 10 : -1) })
  t.equal(await textOf(outcome), 'upstream_slow')
  t.ok(asked > 5)
  await rest()
})

t.test('asks only once when the begin deadline is infinite', async (t) => {
  const { target, exchange } = await rigged(t)
  target.answer((_req, res) => void setTimeout(() => res.end('late'), 50))
  let asked = 0
  t.equal(await textOf(await exchange({ beginsBy: () => (asked++, Infinity) })), 'late')
  t.equal(asked, 1)
})

t.test('a reader that waits longer than stallMs gets upstream_slow', async (t) => {
  const { target, exchange, rest } = await rigged(t)
  target.answer((_req, res) => void res.write('some'))
  t.equal(await textOf(await exchange({ stallMs: 30 })), 'upstream_slow')
  await rest()
})

t.test('the signal ends an exchange without an answer, and closes its connection', async (t) => {
  const { target, exchange, rest } = await rigged(t)
  const ender = new AbortController()
  target.answer(() => ender.abort(new CallEnded('deadline')))
  t.equal(await textOf(await exchange({ signal: ender.signal })), 'deadline_exceeded')
  await rest()
  await until(() => target.open === 0)
  t.equal(target.connections, 1, 'and makes no further connection')
})

t.test('closing the reader ends the answer and its connection', async (t) => {
  const { target, exchange, rest } = await rigged(t)
  target.answer((_req, res) => void pieces(Infinity).body.pipe(res))
  const outcome = await exchange()
  if (outcome.ok) outcome.value.body.close()
  await rest()
  await until(() => target.open === 0)
  t.equal(target.connections, 1, 'and makes no further connection')
})

t.test('a head that cannot be written into a request is header_invalid, and nothing is sent', async (t) => {
  const { target, exchange, rest } = await rigged(t)
  for (const more of [
    { path: '/a b' },
    { path: '/a\r\nx: y' },
    { path: 'http://[' },
    { path: 'x' },
    { headers: ['x', 'a\r\nb: c'] },
    { headers: ['x y', '1'] },
    { headers: ['x'] },
    { method: 'CONNECT' },
    { method: 'GET / HTTP/1.1\r\n' },
  ])
    t.equal(await textOf(await exchange(more)), 'header_invalid', JSON.stringify(more))
  await rest()
  t.equal(target.connections, 0)
})

t.test('a kept-alive connection found closed is replaced once, for a repeatable request', async (t) => {
  const rig = await rigged(t)
  t.equal(await afterStale(rig, 'GET'), 'again')
  t.equal(await afterStale(rig, 'POST'), 'upstream_failed')
})

/** The second exchange on a connection that its server cuts instead of answering. */
async function afterStale({ target, exchange }: Rig, method: string): Promise<string> {
  target.answer((_req, res) => void res.end('first'))
  await textOf(await exchange())
  for (let turn = 0; turn < 3; turn++) await new Promise((next) => setImmediate(next))
  target.answer((req) => {
    target.answer((_req, res) => void res.end('again'))
    req.socket.destroy()
  })
  return textOf(await exchange({ method, body: Buffer.from('a') }))
}
