import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { ADMIN_CONNECTIONS_MAX, ADMIN_REQUEST_MS_MAX } from '../../../schemas/operator/admin-port-limits.ts'
import {
  API_PREFIX,
  DASHBOARD_PATH,
  ERRORS_PATH,
  GUIDES_PATH,
  LIVE_PATH,
} from '../../../schemas/api-prefix.ts'
import { FAILURES, statusOf, type Failure } from '../../../schemas/failures.ts'
import { cannotListen } from '../checks.ts'
import { failed, json, redirect, send, type Answer } from './answers.ts'
import { Assets } from './assets.ts'
import { boundConnections } from './connections.ts'
import { isOwnHost } from './host-names.ts'
import { LiveFeed, type LiveSource } from './live-feed.ts'
import { LiveStreams } from './live-streams.ts'
import { OperatorKeys } from './operator-keys.ts'
import { PublicPort, type PublicPortOptions } from './public-port.ts'
import { Relay } from './relay.ts'

export interface AdminOptions extends LiveSource {
  readonly host: string
  readonly port: number
  /** The public port, to which calls of the dashboard go. */
  readonly publicPort: PublicPortOptions
  readonly keyGraceMs: () => number
  /** Prometheus text over all processes of the node. */
  metrics(): Promise<string>
  /** The dashboard's files; those of the build when absent. */
  readonly assets?: Assets
}

/** The open admin port. */
export interface AdminPort {
  /** Sets the certificates that fronts serve with from now on. */
  trust(pems: readonly string[]): void
  /** Ends the live views, since the node is ending. */
  drain(): void
  close(): Promise<void>
}

const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8'
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])
const NOT_UP: Failure = { name: 'busy', detail: 'The node is starting or shutting down.' }

/**
 * Opens the operator's port, apart from the public port: `/metrics`, `/readyz` and `/healthz`, and the
 * dashboard with its calls. C29. Throws `StartRefused` when the address is taken.
 */
export async function startAdmin(options: AdminOptions): Promise<AdminPort> {
  const desk = new AdminDesk(options)
  const server = createServer({ requestTimeout: ADMIN_REQUEST_MS_MAX }, (request, response) => {
    response.on('error', () => undefined)
    desk.serve(request, response).catch(() => send(response, failed({ name: 'internal' })))
  })
  boundConnections(server, ADMIN_CONNECTIONS_MAX)
  await listen(server, options)
  // A connection that cannot be accepted, as on a machine without a free descriptor, must not end the node.
  server.on('error', () => undefined)
  return {
    trust: (pems) => desk.port.trust(pems),
    drain: () => desk.feed.close(),
    close: () =>
      new Promise((resolve) => {
        desk.feed.close()
        desk.port.close()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

/**
 * True for a page of the public port that errors link to, and for the pages that such a page links to, with
 * their style and their script, which may call no address. The reference, which sends calls, is not among
 * them.
 */
function isTextPage(path: string): boolean {
  return path === ERRORS_PATH || path.startsWith(`${ERRORS_PATH}/`) || path.startsWith(GUIDES_PATH)
}

class AdminDesk {
  readonly port: PublicPort
  readonly feed: LiveFeed
  readonly #options: AdminOptions
  readonly #assets: Assets
  readonly #keys: OperatorKeys
  readonly #relay: Relay
  readonly #streams: LiveStreams

  constructor(options: AdminOptions) {
    this.#options = options
    this.port = new PublicPort(options.publicPort)
    this.feed = new LiveFeed(options)
    this.#assets = options.assets ?? new Assets()
    this.#keys = new OperatorKeys(this.port)
    this.#relay = new Relay(this.port)
    this.#streams = new LiveStreams({ feed: this.feed, keys: this.#keys, keyGraceMs: options.keyGraceMs })
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request
    const [path = '', query = ''] = url.split('?', 2)
    const isHead = method === 'HEAD'
    // A probe may use any host name: its response contains nothing private.
    if (!PROBES.has(path) && !isOwnHost(request.headers.host, this.#options.host))
      return send(response, failed({ name: 'admin_host_refused' }), isHead)
    if (path.startsWith(`${API_PREFIX}/`)) return this.#api(request, response, { path, query })
    if (!READS.has(method))
      return send(response, failed({ name: 'method_not_allowed', fields: { allowed: 'GET, HEAD' } }))
    if (isTextPage(path)) return this.#textPage(request, response)
    send(response, await this.#page(path, request), isHead)
  }

  async #page(path: string, { headers }: IncomingMessage): Promise<Answer> {
    if (path === '/' || path === '/dashboard') return redirect(DASHBOARD_PATH)
    if (path === '/healthz') return json({ status: 'alive' })
    if (path === '/readyz') return this.#readiness()
    if (path === '/metrics') return this.#metrics()
    const { 'accept-encoding': acceptEncoding, 'if-none-match': ifNoneMatch } = headers
    const input = { acceptEncoding: String(acceptEncoding ?? ''), ifNoneMatch }
    const asset = path.startsWith(DASHBOARD_PATH)
      ? await this.#assets.find(path.slice(DASHBOARD_PATH.length), input)
      : null
    return asset ?? failed({ name: 'route_unknown' })
  }

  /** Serves the API to keys of operators only, whatever the path. */
  async #api(
    request: IncomingMessage,
    response: ServerResponse,
    { path, query }: { readonly path: string; readonly query: string },
  ): Promise<void> {
    // Browsers do not pipeline calls; a pipelined response would not learn that its caller has left.
    if (response.socket === null) return void request.socket.destroy()
    const { authorization } = request.headers
    const isHead = request.method === 'HEAD'
    if (this.#options.readiness() === null) return send(response, failed(NOT_UP), isHead)
    const check = await this.#keys.check(authorization)
    if (check.kind !== 'operator') return send(response, check.answer, isHead)
    // For a caller that has left no close event follows.
    if (response.destroyed) return
    if (path !== LIVE_PATH) return this.#relay.pass(request, response)
    if (request.method !== 'GET')
      return send(response, failed({ name: 'method_not_allowed', fields: { allowed: 'GET' } }), isHead)
    if (new URLSearchParams(query).has('once')) return this.#streams.once(response)
    this.#streams.open(response, authorization ?? '')
  }

  /** Passes on a text page of the public port, without a key. */
  #textPage(request: IncomingMessage, response: ServerResponse): void {
    if (response.socket === null) return void request.socket.destroy()
    this.#relay.pass(request, response)
  }

  #readiness(): Answer {
    const readiness = this.#options.readiness() ?? {
      status: 'unavailable',
      reasons: ['starting_or_draining'],
    }
    return readiness.status === 'unavailable'
      ? json(readiness, statusOf('draining', FAILURES.draining.status))
      : json(readiness)
  }

  async #metrics(): Promise<Answer> {
    try {
      const body = await this.#options.metrics()
      return {
        ...json(null),
        body,
        headers: { 'content-type': PROMETHEUS_TEXT, 'cache-control': 'no-store' },
      }
    } catch {
      return failed({ name: 'internal', detail: 'The metrics could not be collected.' })
    }
  }
}

function listen(server: Server, { host, port }: Pick<AdminOptions, 'host' | 'port'>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(cannotListen(cause, { host, port, setting: 'SLUICE_ADMIN_PORT' })))
    server.listen({ host, port }, () => resolve())
  })
}
