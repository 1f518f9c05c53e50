/** How long the lean client keeps idle connections. */
import type { Socket } from 'node:net'
import t from 'tap'
import type { Connection } from '../../../../src/server/egress/http1/connection.ts'
import { connectInMemory, LeanRig, Recorded } from '../../../support/egress/http-clients.ts'
import {
  UPSTREAM_IDLE_LOOK_MS,
  UPSTREAM_KEEP_ALIVE_MARGIN_MS,
  UPSTREAM_KEEP_ALIVE_MS_MAX,
  Connections,
} from '../../../../src/server/egress/two-clients.ts'

const KEEP_ALIVE_MS = 20_000
const NOW = 1_000_000

interface Idle {
  readonly connections: Connections
  readonly sockets: readonly Socket[]
}

/** @param named what each response says of the time of its connection */
function idle(count: number, named: string): Idle {
  const sockets: Socket[] = []
  const connections = new Connections({
    origin: new URL('http://[::1]:80'),
    connect: connectInMemory((socket) => void sockets.push(socket)),
    headBytesMax: 1_000,
    keepAliveMs: KEEP_ALIVE_MS,
    freed: () => undefined,
    resting: () => undefined,
  })
  for (let nth = 0; nth < count; nth++) connections.dial((connection) => served(connection, named))
  connections.settle()
  return { connections, sockets }
}

function served(connection: Connection | null, named: string): void {
  connection?.send(new Recorded(), '')
  const response = Buffer.from(`HTTP/1.1 200 OK\r\n${named}content-length: 0\r\n\r\n`)
  connection?.onRead(response, response.length)
}

const seconds = (ms: number): string => `keep-alive: timeout=${ms / 1_000}\r\n`

for (const [what, named, keptMs] of [
  ['no time', '', KEEP_ALIVE_MS],
  ['a minute', seconds(60_000), 60_000 - UPSTREAM_KEEP_ALIVE_MARGIN_MS],
  ['a year', seconds(31_536_000_000), UPSTREAM_KEEP_ALIVE_MS_MAX],
] as const) {
  t.test(`an idle connection to a server that announces ${what} is closed before that time`, async (t) => {
    const { connections, sockets } = idle(1, named)
    connections.look(NOW)
    connections.look(NOW + keptMs - 2 * UPSTREAM_IDLE_LOOK_MS - 1)
    t.equal(connections.open, 1)
    connections.look(NOW + keptMs - 2 * UPSTREAM_IDLE_LOOK_MS)
    t.same([connections.open, sockets[0]?.destroyed, connections.take()], [0, true, null])
  })
}

t.test('a connection is not kept when its keep-alive time is within the safety margin', async (t) => {
  const { connections } = idle(1, seconds(UPSTREAM_KEEP_ALIVE_MARGIN_MS))
  t.equal(connections.open, 0)
})

t.test('use of a connection resets its idle time', async (t) => {
  const { connections } = idle(1, '')
  connections.look(NOW)
  served(connections.take(), '')
  connections.settle()
  connections.look(NOW + KEEP_ALIVE_MS)
  t.equal(connections.open, 1)
  connections.destroy()
})

t.test('takes the most recently used connection first, and closes the oldest first', async (t) => {
  const { connections, sockets } = idle(3, '')
  connections.closeOldest()
  t.same(
    sockets.map(({ destroyed }) => destroyed),
    [true, false, false],
  )
  t.ok(connections.take())
  sockets[1]?.destroy(new Error('broken'))
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(connections.take(), null, 'and one that has broken is not taken')
  connections.destroy()
  t.ok(sockets.every(({ destroyed }) => destroyed))
})

t.test('a connection can be taken again in the turn after its exchange ended', async (t) => {
  const { connections } = idle(1, '')
  served(connections.take(), '')
  t.same([connections.take(), connections.isResting], [null, true])
  connections.settle()
  t.ok(connections.take())
  connections.destroy()
})

t.test('an answer before the request is fully sent frees no slot until the connection closes', async (t) => {
  const rig = new LeanRig(true)
  rig.send(new Recorded())
  rig.read(Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'))
  t.same([rig.connection.isOpen, rig.freed], [true, 0])
  await new Promise((later) => setImmediate(later))
  t.same([rig.connection.isOpen, rig.freed], [false, 1])
})
