/** Connections that send requests and read nothing: the answers stay in the buffers of the server. */
import { connect, type Socket } from 'node:net'
import type { LoadRequest } from '../../test/support/load/load-plan.ts'

/** Milliseconds before a closed connection is opened again. */
const AGAIN_MS = 200
/** Milliseconds between two pieces of a request. */
const PIECE_MS = 50

interface Unread {
  readonly port: number
  readonly connections: number
  readonly request: LoadRequest
  /**
   * Bytes a second of all connections together. The connections send at the same time, so that their requests overlap.
   */
  readonly bytesPerS: number
}

/** @returns a function that ends all connections */
export function startUnread({ port, connections, request, bytesPerS }: Unread): () => void {
  const open = new Set<Socket>()
  const timers = new Set<NodeJS.Timeout>()
  const text = Buffer.from(textOf(request, port))
  const pieceBytes = Math.ceil((bytesPerS * PIECE_MS) / 1_000 / connections)
  const ask = (): void => {
    const socket = connect({ port, host: '127.0.0.1' })
    open.add(socket)
    socket.pause()
    const stop = writeSlowly(socket, text, pieceBytes)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => {
      stop()
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

/** @returns a function that ends the writing */
function writeSlowly(socket: Socket, bytes: Uint8Array, pieceBytes: number): () => void {
  let at = 0
  const write = (): void => {
    socket.write(bytes.subarray(at, at + pieceBytes))
    at += pieceBytes
    if (at >= bytes.length) clearInterval(timer)
  }
  const timer = setInterval(write, PIECE_MS)
  return () => clearInterval(timer)
}

function textOf({ method, path, headers, body }: LoadRequest, port: number): string {
  const length = body === '' ? [] : [`content-length: ${Buffer.byteLength(body)}`]
  const given = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${path} HTTP/1.1`, `host: 127.0.0.1:${port}`, ...given, ...length, '', body].join('\r\n')
}
