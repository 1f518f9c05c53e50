import { createServer, type Server } from 'node:http'
import { FAILURES, statusOf, type FailureName } from '../../schemas/failures.ts'
import { cannotListen } from './checks.ts'
import type { Readiness } from './readiness.ts'

export interface AdminOptions {
  readonly host: string
  readonly port: number
  /** Null until the node is up, and again from the drain on. */
  readiness(): Readiness | null
  /** Prometheus text over all processes of the node. */
  metrics(): Promise<string>
}

const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8'

interface Answer {
  readonly status: number
  readonly body: string
  readonly contentType: string
}

/**
 * `/metrics`, `/readyz` and `/healthz` for the operator, apart from the public port. C29.
 * Throws `StartRefused` when the address is taken.
 */
export async function startAdmin(options: AdminOptions): Promise<{ close(): Promise<void> }> {
  const server = createServer((request, response) => {
    void answer(options, request.method ?? '', request.url ?? '').then(({ status, body, contentType }) => {
      const length = Buffer.byteLength(body)
      response.setHeader('cache-control', 'no-store')
      response.writeHead(status, { 'content-type': contentType, 'content-length': length })
      response.end(request.method === 'HEAD' ? undefined : body)
    })
  })
  await listen(server, options)
  return {
    close: () => new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    }),
  }
}

async function answer(options: AdminOptions, method: string, url: string): Promise<Answer> {
  const path = url.split('?')[0]
  const isRead = method === 'GET' || method === 'HEAD'
  if (!isRead) return failed('method_not_allowed', 'this port takes GET and HEAD')
  if (path === '/healthz') return json(200, { status: 'alive' })
  if (path === '/readyz') {
    const readiness = options.readiness() ?? { status: 'unavailable', reasons: ['starting_or_draining'] }
    return json(readiness.status === 'unavailable' ? statusFor('draining') : 200, readiness)
  }
  if (path !== '/metrics') return failed('route_unknown', 'this port serves /metrics, /readyz and /healthz')
  try {
    return { status: 200, body: await options.metrics(), contentType: PROMETHEUS_TEXT }
  } catch {
    return failed('internal', 'the metrics could not be collected')
  }
}

function failed(name: FailureName, error: string): Answer {
  return json(statusFor(name), { error })
}

function statusFor(name: FailureName): number {
  return statusOf(name, FAILURES[name].status)
}

function json(status: number, value: unknown): Answer {
  return { status, body: `${JSON.stringify(value)}\n`, contentType: 'application/json' }
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(cannotListen(cause, { host, port, setting: 'SLUICE_ADMIN_PORT' })))
    server.listen({ host, port }, () => resolve())
  })
}
