import { connect, createServer, type Socket } from 'node:net'
import { freePort } from '../nodes/spawned.ts'
import type { Teardown } from '../teardown.ts'

/** A TCP relay before a real server, for tests that take the server away from a client. */
export interface Relay {
  /** On 127.0.0.1. */
  readonly port: number
  /** Resets all connections and refuses new ones. */
  cut(): Promise<void>
  /**
   * Keeps connections open and passes nothing on, in both directions; new ones are taken and kept waiting.
   */
  freeze(): void
  /** Ends a freeze or a cut. */
  restore(): Promise<void>
  /** Once: resets the connection whose next answer has this text in it, instead of passing that on. */
  loseAnswer(text: string): void
}

export async function openRelay(
  t: Teardown,
  target: { readonly host: string; readonly port: number },
): Promise<Relay> {
  const sockets = new Set<Socket>()
  let isFrozen = false
  // After a cut it must be had again: a port that the system gives out may belong to another process by then.
  const port = await freePort()
  let lost: string | null = null
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  }
  const join = (client: Socket): void => {
    const upstream = connect(target.port, target.host)
    keep(client)
    keep(upstream)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    client.on('data', (chunk) => upstream.write(chunk))
    upstream.on('data', (chunk: Buffer) => {
      if (lost === null || !chunk.includes(lost)) return void client.write(chunk)
      lost = null
      client.resetAndDestroy()
    })
    if (isFrozen) for (const socket of [client, upstream]) socket.pause()
  }
  const server = createServer(join)
  const listen = (): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve))
  const cut = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.resetAndDestroy()
    await closed
  }
  await listen()
  t.teardown(async () => {
    if (server.listening) await cut()
  })
  return {
    port,
    cut,
    freeze() {
      isFrozen = true
      for (const socket of sockets) socket.pause()
    },
    async restore() {
      isFrozen = false
      for (const socket of sockets) socket.resume()
      if (!server.listening) await listen()
    },
    loseAnswer(text) {
      lost = text
    },
  }
}
