import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { ADMIN_CONNECTIONS_MAX, ADMIN_REQUEST_MS_MAX } from '../../../schemas/operator/admin-port-limits.ts'
import {
  API_PREFIX,
  DASHBOARD_API_PREFIX,
  DASHBOARD_PATH,
  ERRORS_PATH,
  GUIDES_PATH,
  LIVE_PATH,
  SESSION_PATH,
} from '../../../schemas/api-prefix.ts'
import { FAILURES, statusOf, type Failure } from '../../../schemas/failures.ts'
import { cannotListen } from '../checks.ts'
import { failed, json, redirect, send, type Answer } from './answers.ts'
import { Assets } from './assets.ts'
import { LiveFeed, type LiveSource } from './live-feed.ts'
import { LiveStreams, type LiveReader } from './live-streams.ts'
import { OperatorKeys } from './operator-keys.ts'
import { PublicPort, type PublicPortOptions } from './public-port.ts'
import { Relay } from './relay.ts'
import { CHECKED_MS_MAX, SessionDoor } from './session-door.ts'
import { Sessions } from './sessions.ts'

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
  /** The dashboard's sessions; none at first when absent. */
  readonly sessions?: Sessions
}

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
 * Starts the port that is separate from the public one: `/metrics`, `/readyz`, `/healthz`, and the dashboard. Throws
 * `StartRefused` when the address is taken.
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
 * True for pages of the public port to which errors link, for the pages to which those link, and for their style and
 * script, which must not call any address. The API reference is excluded, since it sends calls.
 */
function isTextPage(path: string): boolean {
  return path === ERRORS_PATH || path.startsWith(`${ERRORS_PATH}/`) || path.startsWith(GUIDES_PATH)
}

/** A call of the API as the public port gets it, with its key. */
interface ApiCall extends Pick<LiveReader, 'isOpen'> {
  /** The path at the public port, with its query. */
  readonly url: string
  readonly authorization: string | undefined
  /** Called when the key no longer belongs to an operator. */
  onRefused?(): void
}

class AdminDesk {
  readonly port: PublicPort
  readonly feed: LiveFeed
  readonly #options: AdminOptions
  readonly #assets: Assets
  readonly #keys: OperatorKeys
  readonly #relay: Relay
  readonly #streams: LiveStreams
  readonly #sessions: Sessions
  readonly #door: SessionDoor

  constructor(options: AdminOptions) {
    this.#options = options
    this.port = new PublicPort(options.publicPort)
    this.feed = new LiveFeed(options)
    this.#assets = options.assets ?? new Assets()
    this.#keys = new OperatorKeys(this.port)
    this.#relay = new Relay(this.port)
    this.#streams = new LiveStreams({ feed: this.feed, keys: this.#keys, keyGraceMs: options.keyGraceMs })
    this.#sessions = options.sessions ?? new Sessions()
    this.#door = new SessionDoor(this.#keys, this.#sessions)
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request
    const [path = ''] = url.split('?', 1)
    const isHead = method === 'HEAD'
    // A probe may use any host name: its response contains nothing private.
    if (!PROBES.has(path) && !isOwnHost(request.headers.host, this.#options.host))
      return send(response, failed({ name: 'admin_host_refused' }), isHead)
    if (path.startsWith(`${API_PREFIX}/`)) return this.#keyApi(request, response)
    if (path === SESSION_PATH) return send(response, await this.#door.answer(request))
    if (path.startsWith(`${DASHBOARD_API_PREFIX}/`)) return this.#pageApi(request, response)
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

  /** Serves the API to programs, which send a key. Cookies are ignored here. */
  #keyApi(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '', headers } = request
    return this.#api(request, response, { url, authorization: headers.authorization, isOpen: () => true })
  }

  /** Serves the API to keys of operators only, whatever the path. */
  async #api(request: IncomingMessage, response: ServerResponse, call: ApiCall): Promise<void> {
    // Browsers do not pipeline calls; the server could not notice that the caller of a pipelined response disconnected.
    if (response.socket === null) return void request.socket.destroy()
    const isHead = request.method === 'HEAD'
    if (this.#options.readiness() === null) return send(response, failed(NOT_UP), isHead)
    const check = await this.#keys.check(call.authorization)
    if (check.kind === 'refused') call.onRefused?.()
    if (check.kind !== 'operator') return send(response, check.answer, isHead)
    // When the caller has disconnected already, no close event follows.
    if (response.destroyed) return
    const { url, authorization = '' } = call
    const [path = '', query = ''] = url.split('?', 2)
    if (path !== LIVE_PATH)
      return this.#relay.pass(request, response, {
        path: url,
        authorization,
        onRefused: () => void this.#checkAnew(call),
      })
    if (request.method !== 'GET')
      return send(response, failed({ name: 'method_not_allowed', fields: { allowed: 'GET' } }), isHead)
    if (new URLSearchParams(query).has('once')) return this.#streams.once(response)
    this.#streams.open(response, {
      authorization,
      isOpen: () => call.isOpen(),
      onRefused: () => call.onRefused?.(),
    })
  }

  /** A front refused a call with a key that was confirmed before: the key may no longer belong to an operator. */
  async #checkAnew(call: ApiCall): Promise<void> {
    const { kind } = await this.#keys.check(call.authorization, CHECKED_MS_MAX)
    if (kind === 'refused') call.onRefused?.()
  }

  /** Serves the API to the dashboard, which has a session instead of a key. */
  async #pageApi(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const entered = this.#door.enter(request)
    if (entered.kind === 'refused') return send(response, entered.answer, request.method === 'HEAD')
    const { session } = entered
    return this.#api(request, response, {
      url: API_PREFIX + (request.url ?? '').slice(DASHBOARD_API_PREFIX.length),
      authorization: `Bearer ${session.key}`,
      isOpen: () => session.isOpen(),
      onRefused: () => this.#sessions.endAllOf(session.key),
    })
  }

  /** Passes on a text page of the public port, without a key. */
  #textPage(request: IncomingMessage, response: ServerResponse): void {
    if (response.socket === null) return void request.socket.destroy()
    this.#relay.pass(request, response, { path: request.url ?? '/', authorization: '' })
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

/**
 * True when the dashboard answers to a request's `Host`: names of this machine, addresses, and the configured name of
 * the admin port. A foreign page can point its own host name at this port, and the browser would treat it as the
 * dashboard's origin, but it cannot choose another name.
 * @param host the header, with a port or without; undefined if absent
 * @param configured SLUICE_ADMIN_HOST
 */
export function isOwnHost(host: string | undefined, configured: string): boolean {
  const name = nameOf(host ?? '')
  if (name === null) return false
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    isIP(name) !== 0 ||
    name === configured.toLowerCase()
  )
}

const WITH_PORT = /^(?:\[([0-9a-fA-F:.]{2,45})\]|([A-Za-z0-9._-]{1,253}))(?::[0-9]{1,5})?$/

/** The name in lower case, without brackets, the port and a final dot. */
function nameOf(host: string): string | null {
  const [, six, other] = WITH_PORT.exec(host) ?? []
  if (six !== undefined) return isIP(six) === 6 ? six : null
  return other?.toLowerCase().replace(/\.$/, '') ?? null
}

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
    // The socket closes later; without this removal the next connection would choose the same socket again.
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
