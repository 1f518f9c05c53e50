/** Connections that ask and read nothing: what is answered to them lies in the buffers of the server. */
import { connect, type Socket } from 'node:net'
import type { LoadRequest } from '../../test/support/load-plan.ts'

/** Milliseconds before a connection that was ended is opened again. */
const AGAIN_MS = 200

interface Unread {
  readonly port: number
  readonly connections: number
  readonly request: LoadRequest
}

/** @returns ends them all */
export function startUnread({ port, connections, request }: Unread): () => void {
  const open = new Set<Socket>()
  const timers = new Set<NodeJS.Timeout>()
  const { method, path, headers } = request
  const lines = [`${method} ${path} HTTP/1.1`, `host: 127.0.0.1:${port}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)]
  const ask = (): void => {
    const socket = connect({ port, host: '127.0.0.1' })
    open.add(socket)
    socket.pause()
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => {
      if (!open.delete(socket)) return
      const timer = setTimeout(() => {
        timers.delete(timer)
        ask()
      }, AGAIN_MS)
      timers.add(timer)
    })
  }
  for (let nth = 0; nth < connections; nth++) ask()
  return () => {
    for (const timer of timers) clearTimeout(timer)
    const sockets = [...open]
    open.clear()
    for (const socket of sockets) socket.destroy()
  }
}
