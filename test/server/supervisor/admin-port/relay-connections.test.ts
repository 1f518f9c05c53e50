import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, createServer as createTcpServer, type Socket } from 'node:net'
import t from 'tap'
import {
  ADMIN_CONNECTIONS_MAX,
  ADMIN_RELAYS_MAX,
} from '../../../../src/schemas/operator/admin-port-limits.ts'
import { boundConnections } from '../../../../src/server/supervisor/admin-port/port.ts'
import { PublicPort } from '../../../../src/server/supervisor/admin-port/public-port.ts'
import { Relay } from '../../../../src/server/supervisor/admin-port/relay.ts'
import {
  adminStand,
  ask,
  OPERATOR_KEY,
  publicStand,
  type Script,
} from '../../../support/operator/admin-port.ts'
import { NO_OPENSSL, selfSigned, type Certificate } from '../../../support/wire/certificate.ts'
import { rawClient } from '../../../support/wire/raw-http.ts'
import { portOf } from '../../../support/wire/raw-server.ts'
import { until } from '../../../support/nodes/node.ts'
import { still } from '../../../support/wait.ts'
import { AUTHORIZED, echo, relayStands } from '../../../support/operator/relay-stand.ts'

const CLIP = Buffer.alloc(8 * 2 ** 20, 'clip')

/** Holds each call until the test lets go of it. */
function holding() {
  const held: { request: IncomingMessage; response: ServerResponse }[] = []
  const script: Script = (request, response) => void held.push({ request, response })
  return { held, script }
}

t.test('pipelined calls end their own connection, and other clients are still served', async (t) => {
  const { front, stand } = await relayStands(t, echo)
  for (const path of ['/api/v1/clip', '/api/v1/admin/live']) {
    const sender = rawClient(stand.port)
    sender.send(
      `GET /api/v1/admin/live HTTP/1.1\r\n${AUTHORIZED}\r\n` +
        `GET ${path} HTTP/1.1\r\n${AUTHORIZED}\r\n`.repeat(ADMIN_RELAYS_MAX),
    )
    await until('it is closed', () => sender.isClosed)
  }
  t.same(
    front.asked.filter((one) => !one.endsWith('/admin/session')),
    [],
  )
  t.equal((await stand.ask('/api/v1/keys')).status, 201)
})

t.test(
  'when a caller disconnects, the call to the front ends, and when a front disconnects, the answer ends',
  async (t) => {
    const { held, script } = holding()
    const { stand } = await relayStands(t, script)
    const leaver = rawClient(stand.port)
    leaver.send(`GET /api/v1/clip HTTP/1.1\r\n${AUTHORIZED}\r\n`)
    await until('it is asked', () => held.length === 1)
    const left = once(held[0]?.response ?? leaver.socket, 'close')
    leaver.destroy()
    await left
    const reader = rawClient(stand.port)
    reader.send(`GET /api/v1/clip HTTP/1.1\r\n${AUTHORIZED}\r\n`)
    await until('it is asked again', () => held.length === 2)
    held[1]?.response.writeHead(200, { 'content-length': 10 }).write('half')
    await reader.until(/half/)
    held[1]?.request.socket.destroy()
    t.match(await reader.closed(), /half$/)
  },
)

t.test('a slow reader makes the front wait', async (t) => {
  let sent = 0
  const { stand } = await relayStands(t, (_, response) => {
    response.writeHead(200)
    const fill = (): void => {
      do sent += 65_536
      while (response.write(CLIP.subarray(0, 65_536)))
    }
    response.on('drain', fill)
    fill()
  })
  const client = rawClient(stand.port)
  client.socket.pause()
  client.send(`GET /api/v1/clip HTTP/1.1\r\n${AUTHORIZED}\r\n`)
  await until('something is taken', () => sent > 0)
  await still(() => sent)
  t.ok(sent < 64 * 2 ** 20)
  client.destroy()
})

t.test('the number of relayed calls is limited, and a call that ends makes room for another', async (t) => {
  const { held, script } = holding()
  const { stand } = await relayStands(t, script)
  const all = Array.from({ length: ADMIN_RELAYS_MAX }, () => stand.ask('/api/v1/keys'))
  await until('all are asked', () => held.length === ADMIN_RELAYS_MAX)
  t.match(await stand.ask('/api/v1/keys'), { status: 503, error: 'busy', headers: { 'retry-after': '1' } })
  for (const { response } of held) response.end('{}')
  t.ok((await Promise.all(all)).every(({ status }) => status === 200))
  const later = stand.ask('/api/v1/keys')
  await until('one more is asked', () => held.length > ADMIN_RELAYS_MAX)
  held.at(-1)?.response.end('{}')
  t.equal((await later).status, 200)
})

t.test('calls share connections, and a connection that the front has closed is replaced', async (t) => {
  let closeNext = false
  const { front, stand } = await relayStands(t, (request, response) => {
    if (!closeNext) return void response.end('{}')
    closeNext = false
    request.socket.resetAndDestroy()
  })
  for (let call = 0; call < 10; call++) await stand.ask('/api/v1/keys')
  t.equal(front.connections, 1)
  closeNext = true
  t.equal((await stand.ask('/api/v1/keys')).status, 200)
  closeNext = true
  t.match(await stand.ask('/api/v1/keys', { method: 'POST', body: '{}' }), { status: 503, error: 'busy' })
})

t.test('while no front listens, and while the node is starting, calls are answered with 503', async (t) => {
  const { front, stand } = await relayStands(t, echo)
  await stand.ask('/api/v1/keys')
  front.close()
  t.match(await stand.ask('/api/v1/keys'), { status: 503, error: 'busy' })
  const starting = await adminStand(t, 1, { readiness: () => null })
  t.match(await starting.ask('/api/v1/keys'), { status: 503, error: 'busy' })
})

t.test('waits only a limited time for a front that does not answer', async (t) => {
  const { held, script } = holding()
  const front = await publicStand(t, script)
  const port = new PublicPort({ host: '127.0.0.1', port: front.port, isTls: false })
  const relay = new Relay(port, { answerMsMax: 500 })
  const target = { path: '/api/v1/keys', authorization: '' }
  const server = createServer((request, response) => relay.pass(request, response, target))
  server.listen(0, '127.0.0.1')
  t.teardown(() => {
    port.close()
    server.close()
  })
  await once(server, 'listening')
  t.match(await ask(portOf(server), '/api/v1/keys'), { status: 504, error: 'deadline_exceeded' })
  // After a stall it may not even have come to the front.
  await until('the front hears of it', () => held.every(({ request }) => request.socket.destroyed))
})

t.test(
  'above the connection limit idle connections are closed, oldest first, so that a probe is answered',
  async (t) => {
    const { stand } = await relayStands(t, echo)
    const reader = rawClient(stand.port)
    t.teardown(() => reader.destroy())
    reader.send(
      `GET /api/v1/admin/live HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${OPERATOR_KEY}\r\n\r\n`,
    )
    await reader.until(/200 OK/)
    const sockets: Socket[] = []
    t.teardown(() => sockets.forEach((socket) => socket.destroy()))
    for (let nth = 0; nth < ADMIN_CONNECTIONS_MAX + 4; nth++) {
      const socket = connect(stand.port, '127.0.0.1').on('error', () => undefined)
      sockets.push(socket)
      await once(socket, 'connect')
    }
    t.equal((await stand.ask('/readyz')).status, 200)
    await until('the oldest are closed', () => sockets.slice(0, 6).every(({ closed }) => closed))
    t.notOk(sockets.at(-1)?.closed)
    t.ok(await reader.until(/data: /), 'who has a call under way stays')
  },
)

t.test('a connection that the system cannot accept does not stop the port', async (t) => {
  const { stand } = await relayStands(t, echo)
  const servers: Server[] = []
  const keep = (message: unknown): void => void servers.push((message as { readonly server: Server }).server)
  subscribe('http.server.request.start', keep)
  t.teardown(() => unsubscribe('http.server.request.start', keep))
  await stand.ask('/healthz')
  for (let nth = 0; nth < 3; nth++)
    servers[0]?.emit('error', Object.assign(new Error('accept ENFILE'), { code: 'ENFILE' }))
  t.equal((await stand.ask('/healthz')).status, 200)
})

t.test('when all connections have running calls, new connections are closed', async (t) => {
  const responses: ServerResponse[] = []
  const server = createServer((_, response) => void responses.push(response)).listen(0, '127.0.0.1')
  boundConnections(server, 2)
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const [one, two] = [rawClient(portOf(server)), rawClient(portOf(server))]
  for (const client of [one, two]) client.send('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await until('both are asked', () => responses.length === 2)
  t.equal(await rawClient(portOf(server)).closed(), '')
  responses.forEach((response) => response.end('done'))
  await Promise.all([one.until(/done/), two.until(/done/)])
  rawClient(portOf(server)).send('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await until('another one is asked', () => responses.length === 3)
  t.match(await Promise.race([one.closed(), two.closed()]), /done/, 'one that was answered has gone for it')
})

t.test('the public port is trusted by its certificate alone', { skip: NO_OPENSSL }, async (t) => {
  const [ours, other] = [selfSigned(t), selfSigned(t)]
  const front = await publicStand(t, echo, ours)
  const stand = await adminStand(t, 1, { publicPort: { host: '127.0.0.1', port: front.port, isTls: true } })
  t.match(await stand.ask('/api/v1/keys'), { status: 503, error: 'busy' })
  stand.admin.trust([pemOf(other)])
  t.match(await stand.ask('/api/v1/keys'), { status: 503, error: 'busy' })
  t.same(front.asked, [])
  stand.admin.trust([pemOf(other), pemOf(ours)])
  t.equal((await stand.ask('/api/v1/keys')).status, 201)
})

t.test(
  'a front that hangs in its handshake is not waited for longer than another one',
  { timeout: 120_000 },
  async (t) => {
    const sockets: Socket[] = []
    const front = createTcpServer(
      (socket) => void sockets.push(socket.on('error', () => undefined).resume()),
    ).listen(0, '127.0.0.1')
    await once(front, 'listening')
    const port = new PublicPort({ host: '127.0.0.1', port: portOf(front), isTls: true })
    t.teardown(() => {
      port.close()
      sockets.forEach((socket) => socket.destroy())
      front.close()
    })
    t.equal(await port.read('/api/v1/admin/session', [], 50), null)
    await until('no connection is left to it', () => sockets.every(({ destroyed }) => destroyed))
  },
)

function pemOf({ certFile }: Certificate): string {
  return readFileSync(certFile, 'utf8')
}
