/** A receiver of webhooks that keeps all deliveries: HTTPS on loopback, with a root of its own. */
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { IncomingHttpHeaders } from 'node:http'
import { startAuthority } from '../wire/certificate-authority.ts'

export interface ReceivedWebhook {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** What it was answered with. */
  readonly status: number
  readonly atMs: number
}

export interface WebhookReceiver {
  /** `https://127.0.0.1:<port>`. */
  readonly origin: string
  /** PEM file of its root, for `SLUICE_EGRESS_CA`. */
  readonly rootFile: string
  /** For `SLUICE_EGRESS_ALLOW`. */
  readonly allow: string
  readonly received: readonly ReceivedWebhook[]
  close(): Promise<void>
}

/** @param statusOf what a delivery is answered; null: the connection is cut */
export async function startWebhookReceiver(
  statusOf: (path: string, nth: number) => number | null = () => 200,
): Promise<WebhookReceiver> {
  const closers: (() => Promise<void> | void)[] = []
  const authority = startAuthority({ teardown: (done) => void closers.push(done) })
  const received: ReceivedWebhook[] = []
  const server = createServer(authority.issue(['IP:127.0.0.1', 'DNS:localhost']), (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => void pieces.push(piece))
    request.on('end', () => {
      const path = request.url ?? ''
      const status = statusOf(path, received.length)
      received.push({
        path,
        headers: request.headers,
        body: Buffer.concat(pieces).toString(),
        status: status ?? 0,
        atMs: performance.now(),
      })
      if (status === null) request.socket.destroy()
      else response.writeHead(status).end()
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `https://127.0.0.1:${port}`,
    rootFile: authority.rootFile,
    allow: `127.0.0.1/32:${port}`,
    received,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      for (const close of closers) await close()
    },
  }
}
