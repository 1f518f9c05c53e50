import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Bounds the connections of a server: beyond the most the one goes that has waited longest without a call,
 * since who holds many and asks nothing must not keep out who does ask. Where all have calls under way the
 * new one goes.
 */
export function boundConnections(server: Server, countMax: number): void {
  let open = 0
  /** Without a call under way, the one that has waited longest first. */
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
    // It is closed only later, and whoever comes before that costs another one.
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
