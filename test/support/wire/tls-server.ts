import { EventEmitter, once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Teardown } from '../teardown.ts'
import type { KeyPair } from './certificate-authority.ts'

/** A server that agrees to TLS as Postgres does, and says nothing more. */
export async function openTlsServer(t: Teardown, pair: KeyPair) {
  const handshakes = new EventEmitter()
  const sockets = new Set<Socket>()
  const agree = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write('S')
      const secure = new TLSSocket(socket, { isServer: true, ...pair })
      secure.on('error', () => socket.destroy())
      // The client has checked the certificate before it sends its first message.
      secure.once('data', () => handshakes.emit('done'))
    })
  }
  const server = createServer(agree).listen(0, '127.0.0.1')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, handshakes }
}
