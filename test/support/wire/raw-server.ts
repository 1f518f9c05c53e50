/** A server of bytes, for loads that are watched byte by byte. */
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { LoadPlan } from '../load/load-plan.ts'

export interface Raw {
  readonly port: number
  readonly heads: string[]
}

interface Ending {
  teardown(done: () => void): unknown
}

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'

/** Answers each request with the next of the texts, the last one for ever. */
export async function rawServer(t: Ending, texts: readonly string[]): Promise<Raw> {
  const heads: string[] = []
  let at = 0
  const port = await bytesServer(t, (socket, bytes) => {
    heads.push(bytes.toString())
    const text = texts[Math.min(at++, texts.length - 1)] ?? ''
    if (text === 'reset') socket.resetAndDestroy()
    else socket.write(text)
  })
  return { port, heads }
}

/** @returns the port */
export async function bytesServer(t: Ending, read: (socket: Socket, bytes: Buffer) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (bytes) => read(socket, bytes))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return portOf(server)
}

export function portOf(server: Pick<Server, 'address'>): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

export function loadPlan(port: number, more: Partial<LoadPlan>): LoadPlan {
  return {
    host: '127.0.0.1',
    port,
    connections: 1,
    pace: { kind: 'closed' },
    durationMs: 60_000,
    // On a slow machine a backlog takes longer than a generator waits by default.
    drainMs: 60_000,
    requests: [{ method: 'POST', path: '/a', headers: { b: 'c' }, body: 'd' }],
    ...more,
  }
}
