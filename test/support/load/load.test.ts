import t from 'tap'
import { readFileSync } from 'node:fs'
import { createServer as createSecureServer } from 'node:tls'
import { once } from 'node:events'
import { NO_OPENSSL, selfSigned } from '../wire/certificate.ts'
import { runLoad, startLoad } from './load.ts'
import { loadPlan as plan, OK, portOf, rawServer } from '../wire/raw-server.ts'
import { freePort, pause } from '../nodes/spawned.ts'
import { until } from '../wait.ts'

t.setTimeout(600_000)

t.test('requests in turn are sent equally often, by whichever connection is free', async (t) => {
  const server = await rawServer(t, [OK])
  const requests = ['/a', '/b', '/c', '/d'].map((path) => ({ method: 'GET', path, headers: {}, body: '' }))
  await runLoad(plan(server.port, { requests, isInTurn: true, connections: 2, requestsMax: 8 }))
  const times = (path: string): number =>
    server.heads.filter((head) => head.startsWith(`GET ${path} `)).length
  t.ok(requests.every(({ path }) => times(path) >= 2))
})

t.test('a load ends at its request count, and every answer is in the sums and the rows', async (t) => {
  const server = await rawServer(t, [OK, 'HTTP/1.1 429 Too Many\r\ncontent-length: 0\r\n\r\n', OK])
  const result = await runLoad(plan(server.port, { requestsMax: 5, keepRows: { except: [429] } }))
  t.same(result.statuses, { 200: 4, 429: 1 })
  t.same(
    result.rows.map((row) => row.status),
    [200, 200, 200, 200],
  )
  t.equal(
    server.heads[0],
    `POST /a HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nb: c\r\ncontent-length: 1\r\n\r\nd`,
  )
})

t.test(
  'at a fixed rate, latency is measured from the due time, not from the end of the previous request',
  async (t) => {
    const server = await rawServer(t, [OK])
    const { latency } = await runLoad(
      plan(server.port, { pace: { kind: 'open', ratePerS: 0.5 }, requestsMax: 2 }),
    )
    t.ok(latency.p50 < 2_000)
  },
)

t.test('a chunked answer ends with its last chunk', async (t) => {
  const server = await rawServer(t, [
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n',
  ])
  t.same((await runLoad(plan(server.port, { requestsMax: 3 }))).statuses, { 200: 3 })
})

t.test('a chunk without a valid size is a failed request, and does not end the generator', async (t) => {
  for (const size of ['', 'xyz', '-9', '0x2', '123456789']) {
    const server = await rawServer(t, [
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${size}\r\nhi\r\n0\r\n\r\n`,
      OK,
    ])
    t.same((await runLoad(plan(server.port, { requestsMax: 2 }))).statuses, { 0: 1, 200: 1 }, size)
  }
  const server = await rawServer(t, [
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2 ;of=two\r\nhi\r\n0\r\n\r\n',
  ])
  t.same((await runLoad(plan(server.port, { requestsMax: 2 }))).statuses, { 200: 2 })
})

t.test('a reset connection is a failed request and a cut socket, and a new one is opened', async (t) => {
  const server = await rawServer(t, [OK, 'reset', OK])
  const result = await runLoad(plan(server.port, { requestsMax: 3 }))
  t.same(result.statuses, { 0: 1, 200: 2 })
  t.same(
    result.sockets.map((socket) => socket.isCut),
    [true, false],
  )
})

t.test('a request answered with `connection: close` counts as answered', async (t) => {
  const server = await rawServer(t, ['HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'])
  const result = await runLoad(plan(server.port, { requestsMax: 2 }))
  t.same(result.statuses, { 200: 2 })
  t.notOk(result.sockets.some((socket) => socket.isCut))
})

t.test('a request without an answer fails after its time-out', async (t) => {
  const server = await rawServer(t, [''])
  t.same((await runLoad(plan(server.port, { requestsMax: 1, answerTimeoutMs: 50 }))).failures, ['no answer'])
})

t.test('a stopped load answers with its results so far', async (t) => {
  const server = await rawServer(t, [OK])
  const load = await startLoad(plan(server.port, {}))
  while (server.heads.length < 10) await new Promise((resolve) => setImmediate(resolve))
  const result = await load.stop()
  t.ok((result.statuses[200] ?? 0) >= 9)
})

t.test('a fresh connection carries one request, and one that is reset counts as failed', async (t) => {
  const closing = OK.replace('200 OK', '200 OK\r\nconnection: close')
  const server = await rawServer(t, [OK, closing, 'reset', OK])
  const result = await runLoad(plan(server.port, { freshEveryMs: 1, requestsMax: 4 }))
  t.same(result.statuses, { 0: 1, 200: 3 })
  t.same(
    result.sockets.map(({ answers, isCut }) => [answers, isCut]),
    [
      [1, false],
      [1, false],
      [0, true],
      [1, false],
    ],
  )
  const load = await startLoad(plan(await freePort(), { freshEveryMs: 1, requestsMax: 3 }))
  t.same((await load.result).statuses, { 0: 3 })
})

t.test('all connections together send at most the maximum rate per second', async (t) => {
  const server = await rawServer(t, [OK])
  const begunAt = performance.now()
  const result = await runLoad(plan(server.port, { connections: 4, ratePerSMax: 20, requestsMax: 31 }))
  const tookMs = performance.now() - begunAt
  t.ok(
    (result.statuses[200] ?? 0) >= 31 && tookMs >= 1_490,
    `${server.heads.length} requests in ${tookMs} ms`,
  )
})

t.test(
  'a polite connection waits as Retry-After says, in seconds or by a date, also when its server closes it',
  async (t) => {
    const later = new Date(Date.now() + 3_600_000).toUTCString()
    for (const wait of ['3600', later, '99999999999']) {
      const server = await rawServer(t, [
        `HTTP/1.1 429 No\r\nretry-after: ${wait}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
        OK,
      ])
      const load = await startLoad(plan(server.port, { pace: { kind: 'polite' } }))
      await until(() => server.heads.length !== 0)
      await pause(300)
      const result = await load.stop()
      t.same([result.statuses, server.heads.length], [{ 429: 1 }, 1], wait)
    }
  },
)

t.test(
  'with a maximum rate, a server that refuses connections is not flooded, and each attempt counts as failed',
  async (t) => {
    const begunAt = performance.now()
    const result = await runLoad(plan(await freePort(), { ratePerSMax: 100, requestsMax: 4, connections: 2 }))
    t.same([result.statuses, result.failures], [{ 0: 4 }, Array.from({ length: 4 }, () => 'no connection')])
    t.ok(performance.now() - begunAt >= 990, 'a second lies between two attempts of one')
  },
)

t.test('over TLS, checks the server name, and the plain request arrives', { skip: NO_OPENSSL }, async (t) => {
  const { certFile, keyFile } = selfSigned(t)
  const heads: string[] = []
  const issuers = readFileSync(certFile, 'utf8')
  const server = createSecureServer({ cert: issuers, key: readFileSync(keyFile) }, (socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      heads.push(bytes.toString())
      socket.write(OK)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const port = portOf(server)
  const origin = { authority: 'localhost', serverName: 'localhost', issuers }
  const good = await runLoad(plan(port, { origin, requestsMax: 3 }))
  t.same([good.statuses, heads[0]?.split('\r\n')[1]], [{ 200: 3 }, 'host: localhost'])
  const { NODE_TLS_REJECT_UNAUTHORIZED: before } = process.env
  t.teardown(() => {
    if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
  })
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  for (const wrong of [
    { ...origin, serverName: 'other.example' },
    { ...origin, issuers: null },
  ]) {
    const refused = await runLoad(plan(port, { origin: wrong, ratePerSMax: 10, requestsMax: 1 }))
    t.same(refused.statuses, { 0: 1 })
  }
  t.equal(heads.length, 3, 'nothing is sent to another server than the one meant')
})

t.test('a body of bytes arrives as it is', async (t) => {
  const server = await rawServer(t, [OK])
  const request = { method: 'POST', path: '/a', headers: {}, body: '', bytes: Uint8Array.of(65, 66, 67) }
  await runLoad(plan(server.port, { requests: [request], requestsMax: 1 }))
  t.ok(server.heads[0]?.endsWith('content-length: 3\r\n\r\nABC'))
})
