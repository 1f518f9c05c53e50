/** The two clients of a trusted origin on real connections: what they write, and how they share the pool. */
import { createServer as createSecureServer } from 'node:https'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { AnswerBudget } from '../../../../src/server/egress/answer-budget.ts'
import { leanConnectors, trustedConnector, type Connect } from '../../../../src/server/egress/connect.ts'
import { openEgress } from '../../../../src/server/egress/egress.ts'
import { PooledOrigin } from '../../../../src/server/egress/origin.ts'
import type { EgressExchangeRequest, EgressRequest } from '../../../../src/server/ports/egress/egress.ts'
import { nameOf, request } from '../../../support/egress/egress-rig.ts'
import { chatRequest } from '../../../support/egress/long-call-rig.ts'
import { textOf } from '../../../support/egress/vetted-stand.ts'
import { must } from '../../../support/must.ts'
import { until } from '../../../support/wait.ts'
import { NO_OPENSSL } from '../../../support/wire/certificate.ts'
import { startAuthority } from '../../../support/wire/certificate-authority.ts'
import { bytesServer, portOf } from '../../../support/wire/raw-server.ts'

const HI = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'

interface Requested {
  readonly socket: Socket
  readonly text: string
}

interface PoolRig {
  readonly origin: PooledOrigin
  /** Requests in order, each with the connection that it came on. */
  readonly requests: Requested[]
  /** Connections that this side has open. */
  open(): number
}

interface Pool {
  readonly connections: number
  readonly isLean?: boolean
  /** Writes the response; absent: says hi. */
  readonly answer?: (socket: Socket, nth: number) => void
}

/** A server that takes each read for one request. */
async function pool(t: Test, { connections, isLean = true, answer }: Pool): Promise<PoolRig> {
  const requests: Requested[] = []
  const sockets: Socket[] = []
  const counted =
    (connect: Connect): Connect =>
    (options, connected) =>
      connect(options, (...made) => {
        if (made[1] !== null) sockets.push(made[1])
        connected(...made)
      })
  const port = await bytesServer(t, (socket, bytes) => {
    requests.push({ socket, text: bytes.toString('latin1') })
    if (answer === undefined) socket.write(HI)
    else answer(socket, requests.length - 1)
  })
  const origin = new PooledOrigin(`http://127.0.0.1:${port}`, {
    budget: new AnswerBudget(2 ** 24),
    connect: counted(trustedConnector({})),
    connectLean: isLean ? counted(leanConnectors({}).calls) : null,
    limits: { connections, waiting: 100, keepAliveTimeout: 60_000 },
  })
  t.teardown(() => origin.destroy())
  return { origin, requests, open: () => sockets.filter(({ destroyed }) => !destroyed).length }
}

async function stated(origin: PooledOrigin, more: Partial<EgressRequest> = {}): Promise<string> {
  const outcome = await origin.call(request(more))
  if (!outcome.ok) return outcome.failure.name
  const text = Buffer.from(outcome.value.body).toString()
  outcome.value.release()
  return text
}

/** A body that the lean client does not send. */
function stream(text = '{}'): Partial<EgressRequest> {
  return { body: Readable.from([Buffer.from(text)]), bodyBytes: text.length, mayRepeat: false }
}

t.test('both clients write the same bytes', async (t) => {
  const written: string[][] = []
  for (const isLean of [true, false]) {
    const { origin, requests } = await pool(t, { connections: 1, isLean })
    for (const more of [
      { body: '{"a":"b"}' },
      { body: '{"a":"é€😀"}' },
      { body: '' },
      { body: null },
      { body: Buffer.from('bytes') },
      { body: [Buffer.from('by'), Buffer.from('te'), Buffer.from('s')] },
      { body: 'x', headers: ['content-type', 'a/b', 'x-empty', '', 'X-Two', 'a\tb c'] },
      { body: 'x', path: '/v1/x?a=%20&b' },
      { method: 'GET', body: null },
      { method: 'DELETE', body: null },
    ] as const)
      t.equal(await stated(origin, more), 'hi')
    // The port is another one.
    written.push(requests.map(({ text }) => text.replace(/^host: .*$/m, 'host')))
  }
  t.same(written[0], written[1])
  t.equal(written[0]?.length, 10)
})

t.test('a head with non-ASCII bytes is written or refused as in undici', async (t) => {
  const outcomes: unknown[] = []
  for (const isLean of [true, false]) {
    const { origin, requests } = await pool(t, { connections: 1, isLean })
    for (const headers of [['x', 'é'], ['x', 'a\r\nb: c'], ['x y', '1'], ['x'], ['host', 'other']])
      outcomes.push(await stated(origin, { headers }))
    outcomes.push(requests.map(({ text }) => text.replace(/^host: 127.*$/m, 'host')))
  }
  t.same(outcomes.slice(0, outcomes.length / 2), outcomes.slice(outcomes.length / 2))
})

t.test('a reused header list is sent with the method and path of each request', async (t) => {
  const { origin, requests } = await pool(t, { connections: 1 })
  const headers = Object.freeze(['x-a', 'b'])
  for (const [method, path] of [
    ['POST', '/a'],
    ['POST', '/b'],
    ['GET', '/b'],
    ['POST', '/a'],
  ] as const)
    t.equal(await stated(origin, { method, path, headers, body: method === 'GET' ? null : 'x' }), 'hi')
  t.same(
    requests.map(({ text }) => /^\w+ \S+/.exec(text)?.[0]),
    ['POST /a', 'POST /b', 'GET /b', 'POST /a'],
  )
  t.ok(requests.every(({ text }) => text.includes('\r\nx-a: b\r\n')))
})

t.test('a large body of many parts is sent in order', async (t) => {
  const parts = Array.from({ length: 20 }, (_, nth) => Buffer.alloc(10_000, 97 + nth))
  let text = ''
  const { origin, requests } = await pool(t, {
    connections: 1,
    answer: (socket) => {
      text += requests.at(-1)?.text ?? ''
      if (text.endsWith('t'.repeat(10_000))) socket.write(HI)
    },
  })
  t.equal(await stated(origin, { body: parts }), 'hi')
  t.ok(text.endsWith(`content-length: 200000\r\n\r\n${Buffer.concat(parts).toString()}`))
})

t.test('both clients together stay within the connection limit, and every request is sent', async (t) => {
  let most = 0
  const rig = await pool(t, {
    connections: 3,
    answer: (socket) => {
      most = Math.max(most, rig.open())
      setImmediate(() => socket.write(HI))
    },
  })
  for (let round = 0; round < 5; round++) {
    const calls = Array.from({ length: 30 }, (_, nth) =>
      stated(rig.origin, (nth + round) % 3 === 0 ? stream() : {}),
    )
    t.same(new Set(await Promise.all(calls)), new Set(['hi']))
  }
  t.ok(most <= 3, `${most} connections`)
  t.equal(rig.requests.length, 150)
  t.equal(rig.origin.calls, 0)
})

t.test('idle connections of one client make room for the other client', async (t) => {
  const { origin, open } = await pool(t, { connections: 1 })
  for (const more of [{}, stream(), {}, stream(), {}, {}]) {
    t.equal(await stated(origin, more), 'hi')
    t.ok(open() <= 1)
  }
})

t.test('requests wait in one queue, and a cancelled request leaves the queue', async (t) => {
  const { origin, requests } = await pool(t, { connections: 1 })
  const leaving = new AbortController()
  const calls = ['a', 'b', 'c'].map((path) =>
    stated(origin, {
      path: `/${path}`,
      ...(path === 'b' ? { call: leaving, mayCutSent: true } : {}),
    }),
  )
  leaving.abort()
  t.same(await Promise.all(calls), ['hi', 'client_gone', 'hi'])
  t.same(
    requests.map(({ text }) => text.slice(5, 7)),
    ['/a', '/c'],
  )
  t.equal(origin.calls, 0)
})

for (const [what, headers, connections] of [
  ['that keeps its connections for 2 s', 'keep-alive: timeout=2\r\n', 2],
  ['that keeps its connections for 9 s', 'keep-alive: timeout=9, max=100\r\n', 1],
  ['that closes them', 'connection: close\r\n', 2],
] as const) {
  t.test(`connections to a provider ${what}: two calls use ${connections}`, async (t) => {
    const text = HI.replace('\r\n\r\n', `\r\n${headers}\r\n`)
    const { origin, requests } = await pool(t, {
      connections: 1,
      answer: (socket) => void socket.write(text),
    })
    t.same([await stated(origin), await stated(origin)], ['hi', 'hi'])
    t.equal(new Set(requests.map(({ socket }) => socket)).size, connections)
  })
}

t.test('unrequested bytes are not the response to any request', async (t) => {
  const { origin, requests } = await pool(t, { connections: 1 })
  t.equal(await stated(origin), 'hi')
  const first = requests[0]?.socket
  first?.write(HI.replace('hi', 'no'))
  await until(() => first?.destroyed === true)
  t.equal(await stated(origin, { mayRepeat: false }), 'hi')
  t.not(requests[1]?.socket, first)
})

t.test('a closing pool ends running, waiting and connecting requests', async (t) => {
  const { origin, requests } = await pool(t, { connections: 1, answer: () => undefined })
  const calls = [stated(origin, { mayRepeat: false }), stated(origin), stated(origin, stream())]
  await until(() => requests.length === 1)
  await origin.destroy()
  t.same(await Promise.all(calls), ['upstream_failed', 'upstream_failed', 'upstream_failed'])
  t.equal(await stated(origin), 'upstream_failed')
  t.equal(origin.calls, 0)
})

t.test('over TLS both clients read the same, and reuse sessions', { skip: NO_OPENSSL }, async (t) => {
  const authority = startAuthority(t)
  const body = 'x'.repeat(300_000)
  let reused = 0
  const server = createSecureServer(authority.issue(['DNS:localhost']), (req, res) => {
    if ((req.socket as TLSSocket).isSessionReused()) reused++
    req.resume().on('end', () => {
      if (req.url === '/chunks') res.write(body.slice(0, 100_000), () => res.end(body.slice(100_000)))
      else res.writeHead(200, { 'content-length': body.length, connection: 'close' }).end(body)
    })
  })
  await once(server.listen(0, 'localhost'), 'listening')
  t.teardown(() => server.close().closeAllConnections())
  for (const isLean of [true, false]) {
    const egress = openEgress({ extraCa: [authority.root], isLean })
    t.teardown(() => egress.close())
    const origin = egress.trusted(`https://localhost:${portOf(server)}`)
    for (const path of ['/length', '/chunks', '/length']) {
      const answer = must(await origin.call(request({ path })))
      t.ok(Buffer.from(answer.body).toString() === body, `${path} of the lean client: ${isLean}`)
      answer.release()
      const slow: Partial<EgressExchangeRequest> = { path, aheadBytesMax: 1 }
      t.ok((await textOf(await origin.exchange(chatRequest(slow)))) === body)
    }
  }
  t.ok(reused > 0, `${reused} sessions were used again`)
  const stranger = openEgress()
  t.teardown(() => stranger.close())
  const refused = await stranger.trusted(`https://localhost:${portOf(server)}`).call(request())
  t.equal(nameOf(refused), 'upstream_failed')
  t.match(refused, { failure: { detail: "The server's certificate was refused." } })
})

t.test('a request without a free pool connection is busy, and not a fault of the provider', async (t) => {
  const { origin, requests } = await pool(t, { connections: 1, answer: () => undefined })
  const first = stated(origin, { mayRepeat: false })
  await until(() => requests.length === 1)
  t.equal(await stated(origin, { attemptEndsAt: performance.now() }), 'busy')
  const late = await origin.exchange(chatRequest({ beginsBy: () => performance.now() }))
  t.equal(late.ok ? 'answer' : late.failure.name, 'busy')
  await origin.destroy()
  t.equal(await first, 'upstream_failed')
})
