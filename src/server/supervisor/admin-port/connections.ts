import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Limits the connections of a server. Beyond the limit the server closes the connection that has waited
 * longest without a call, so that a client with many idle connections cannot exclude others. When all
 * connections have calls under way, the server closes the new one.
 */
export function boundConnections(server: Server, countMax: number): void {
  let open = 0
  /** Connections without a call under way; the longest wait comes first. */
  const waiting = new Set<Socket>()
  server.on('connection', (socket) => {
    open++
    socket.once('close', () => {
      open--
      waiting.delete(socket)
    })
    const [longest = socket] = waiting
    waiting.add(socket)
    if (open <= countMax) return
    // The socket closes later than this; without this removal the next connection would choose the same
    // socket again.
    waiting.delete(longest)
    longest.destroy()
  })
  server.on('request', ({ socket }, response: ServerResponse) => {
    waiting.delete(socket)
    response.once('close', () => {
      if (!socket.destroyed) waiting.add(socket)
    })
  })
}
