/** How the bytes of a connection reach undici. */
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { AnswerBudget } from '../../../src/server/egress/answer-budget.ts'
import {
  UPSTREAM_READ_BYTES_MAX,
  UPSTREAM_READ_EVENTS_BYTES_MAX,
  trustedConnector,
  trustedLongConnector,
  type Connect,
} from '../../../src/server/egress/connect.ts'
import { PooledOrigin } from '../../../src/server/egress/origin.ts'
import { chatRequest } from '../../support/egress/long-call-rig.ts'
import { textOf } from '../../support/egress/vetted-stand.ts'
import { must } from '../../support/must.ts'
import { still } from '../../support/wait.ts'
import { bytesServer } from '../../support/wire/raw-server.ts'

const ANSWER =
  'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 26\r\n\r\nabcdefghijklmnopqrstuvwxyz'

/** A pool whose connections count the bytes that went through their stream buffers. */
function open(t: Test, port: number, connect = trustedConnector({})) {
  const seen = { pushed: 0, sockets: 0 }
  const counted: Connect = (options, connected) =>
    connect(options, (...made) => {
      const socket: Socket | null = made[1]
      if (socket !== null) {
        seen.sockets++
        const push = socket.push.bind(socket)
        socket.push = (bytes: Buffer | null) => {
          seen.pushed += bytes?.length ?? 0
          return push(bytes)
        }
      }
      connected(...made)
    })
  const origin = new PooledOrigin(`http://127.0.0.1:${port}`, {
    budget: new AnswerBudget(2 ** 20),
    connect: counted,
    limits: { connections: 1, waiting: 0, keepAliveTimeout: 60_000 },
  })
  t.teardown(() => origin.destroy())
  return { origin, seen }
}

t.test('undici reads a connection without a stream buffer, wherever the reads are split', async (t) => {
  let at = 1
  const port = await bytesServer(t, (socket) => {
    socket.setNoDelay(true)
    const cut = at++
    socket.write(ANSWER.slice(0, cut), () => setImmediate(() => socket.write(ANSWER.slice(cut))))
  })
  const { origin, seen } = open(t, port)
  while (at < ANSWER.length)
    t.equal(await textOf(await origin.exchange(chatRequest())), 'abcdefghijklmnopqrstuvwxyz')
  t.same(seen, { pushed: 0, sockets: 1 })
})

t.test('an answer with a slow reader is buffered in a stream, and arrives in order', async (t) => {
  const text = Array.from({ length: 300_000 }, (_, nth) => String(nth)).join(' ')
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n`
  const port = await bytesServer(t, (socket) => void socket.write(head + text))
  const { origin, seen } = open(t, port)
  const { body } = must(await origin.exchange(chatRequest({ aheadBytesMax: 1_000 })))
  const read: Buffer[] = []
  for (;;) {
    const piece = must(await body.next())
    if (piece === null) break
    read.push(Buffer.from(piece))
    // The connection is paused meanwhile.
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.ok(Buffer.concat(read).toString('latin1') === text)
  t.ok(seen.pushed > 0)
})

t.test(
  'with a slow reader a long call holds two reads of its connection, any other call two large reads',
  async (t) => {
    const text = 'x'.repeat(4 * 2 ** 20)
    const head = `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n`
    const port = await bytesServer(t, (socket) => void socket.write(head + text))
    const heldOf = async (connect: Connect): Promise<number> => {
      const { origin, seen } = open(t, port, connect)
      const { body } = must(await origin.exchange(chatRequest({ aheadBytesMax: 1 })))
      const first = must(await body.next())?.length ?? 0
      await still(() => seen.pushed)
      body.close()
      return first + seen.pushed
    }
    const long = await heldOf(trustedLongConnector({}))
    t.ok(long <= 3 * UPSTREAM_READ_EVENTS_BYTES_MAX, `${long} bytes`)
    const usual = await heldOf(trustedConnector({}))
    t.ok(usual > long && usual <= 3 * UPSTREAM_READ_BYTES_MAX, `${usual} bytes`)
  },
)
