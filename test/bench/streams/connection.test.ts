import t from 'tap'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { StreamConnection, type CallEvents } from '../../../bench/streams/connection.ts'
import type { Teardown } from '../../support/teardown.ts'
import { STALE_MS_MAX } from '../../../bench/streams/limits.ts'

const REQUEST = Buffer.from('POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 0\r\n\r\n')
const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'

/** What becomes of the second call of a connection that the server ends so many milliseconds after the call was sent. */
async function endedAfter(t: Teardown, ms: number): Promise<string> {
  const server = createServer((socket) => {
    let seen = 0
    socket.on('error', () => {})
    socket.on('data', () => {
      if (seen++ === 0) return void socket.write(ANSWER)
      now = ms
      socket.destroy()
    })
  })
  let now = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  const { port } = server.address() as AddressInfo
  return new Promise((resolve) => {
    const ends = (name: string): CallEvents => ({
      onHead: () => undefined,
      onBody: () => undefined,
      onEnd: () => undefined,
      onBroken: () => resolve(`${name} broken`),
      onStale: () => resolve(`${name} stale`),
    })
    let nth = 0
    const connection = new StreamConnection(
      { address: '127.0.0.1', port, tls: null },
      { free: () => connection.send(REQUEST, ends(`call ${++nth}`)), gone: () => undefined },
      () => now,
    )
    connection.send(REQUEST, ends('call 0'))
  })
}

t.test('sends a call again when its kept-alive connection closed as the call was sent', async (t) => {
  t.equal(await endedAfter(t, STALE_MS_MAX - 1), 'call 1 stale')
})

t.test('a call fails when its kept-alive connection closes later', async (t) => {
  t.equal(await endedAfter(t, STALE_MS_MAX), 'call 1 broken')
})
