import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import uWS, {
  type HttpRequest,
  type HttpResponse,
  type TemplatedApp,
  type us_listen_socket,
} from 'uWebSockets.js'
import { BODIES_BYTES_MAX, DRAIN_MS } from '../../schemas/limits/limits.ts'
import { ProxyList } from '../../schemas/values/proxies.ts'
import { RequestIds } from '../../schemas/requests/request-id.ts'
import { LoopBudget } from '../structures/loop-budget.ts'
import { SwapList } from '../structures/swap-list.ts'
import { LoopShare, UnreadAnswers } from '../limits/loop-share.ts'
import type { AnyOperation } from '../operations/define.ts'
import type { CallSettled } from '../ports/observe.ts'
import { regionalHosts } from '../access/access.ts'
import { Connections, connectionsMax } from './connections.ts'
import { Cors } from './call/cors.ts'
import type { ExchangeHost, OpenExchange } from './exchange-deps.ts'
import { RequestHead, type HeadFault } from './call/head.ts'
import { serve } from './call/pipeline.ts'
import { UNROUTED, type PipelineDeps } from './call/pipeline-deps.ts'
import { ReadEnd } from './body/socket-reading.ts'
import { buildRouteTable, type RouteTable } from './call/route-table.ts'
import type { Asset } from './reference/asset.ts'
import { Site } from './reference/site.ts'
import { Timers } from './timers.ts'
import { BodyBudget } from './body/body.ts'
import type { WireRequest, WireResponse } from './reply/wire.ts'

export interface HttpOptions extends Pick<
  PipelineDeps,
  'access' | 'admission' | 'jobs' | 'ports' | 'observer'
> {
  readonly host: string
  /** 0 takes any free port; other fronts cannot join that port. */
  readonly port: number
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null
  /** The operations and pages that are served, compiled in advance. */
  readonly compiled: Compiled
  /** False: the front cannot serve any key, for example because it has not reached the store yet. Absent: it can. */
  readonly isReady?: () => boolean
  /** Origins from which browsers may call; empty = none. */
  readonly corsOrigins: readonly string[]
  /** SLUICE_PUBLIC_URL, the beginning of links in errors; absent or null: the host of the request. */
  readonly publicUrl?: string | null
  /** Addresses and ranges of proxies whose `X-Forwarded-Proto` counts. Left out: none. */
  readonly proxies?: readonly string[]
  /** Hostnames on which operations that refuse regional hosts answer 403; lower case. Empty = none. */
  readonly regionalHosts?: readonly string[]
  /** Bytes of large bodies that this front holds at once. */
  readonly bodiesBytesMax?: number
  readonly loop?: LoopShare
  /** Accounts the use of the loop by calls to models; absent: the front creates its own. */
  readonly budget?: LoopBudget
  /** Limit of bytes of unread answers for the clients of one organization. */
  readonly unreadBytesMax?: number
  /** Limit of connections of clients; new connections beyond it are closed. */
  readonly connectionsMax?: number
  /** Concurrent long calls to providers, for which descriptors are reserved. */
  readonly streams?: number
  /** Measures stalls and deadlines. */
  readonly timers?: Timers
  /** Returns a number from 0 to below 1. */
  readonly random?: () => number
}

/** The parts of a front that depend only on the operations. */
export interface Compiled {
  readonly table: RouteTable
  readonly site: Site
}

/** Takes some 20 ms; a spare front does it before it is needed. @param openApi the document of these operations */
export function compile(operations: readonly AnyOperation[], openApi: Asset): Compiled {
  return { table: buildRouteTable(operations), site: new Site(openApi, operations) }
}

/** The work in progress of a front: all zero when the front is idle. */
export interface HttpLoad {
  readonly calls: number
  readonly timers: number
  readonly bodyBytes: number
}

export interface HttpFront {
  readonly port: number
  readonly load: HttpLoad
  readonly connections: Pick<Connections, 'open' | 'refused'>
  /** Bytes of answers that wait for their readers. */
  readonly unreadBytes: number
  /** Refuses new connections; existing ones end after their next reply. Calls in progress continue. */
  stopAccepting(): void
  /**
   * Stops accepting, waits for calls in flight, and answers 503 to the rest at the deadline. A later call
   * brings the deadlines forward. Design §2.
   * @param idleMs milliseconds, within the deadline, for which connections stay open after the last call has
   * ended; the next answer on each has `Connection: close`
   */
  drain(deadlineMs?: number, idleMs?: number): Promise<void>
  /** Cuts every connection. */
  close(): void
}

/** Opens the public port. Rejects when the port is not available. */
export async function startHttp(options: HttpOptions): Promise<HttpFront> {
  const { host, port, tls, corsOrigins, compiled } = options
  const { bodiesBytesMax = BODIES_BYTES_MAX, timers = new Timers(), random = Math.random } = options
  const ids = new RequestIds()
  const budget = new BodyBudget(bodiesBytesMax)
  const unread = new UnreadAnswers(options.unreadBytesMax)
  const exchanges: ExchangeHost = {
    timers,
    budget,
    unread,
    random,
    readEnd: new ReadEnd(),
    open: new SwapList<OpenExchange>(),
    isClosing: false,
    isOutOfTime: false,
  }
  compiled.site.follow(() => {
    if (exchanges.isClosing) return 'draining'
    return options.isReady?.() === false ? 'store_unavailable' : null
  })
  const deps: PipelineDeps = {
    access: options.access,
    regional: regionalHosts(options.regionalHosts ?? []),
    admission: options.admission,
    loop: options.loop ?? new LoopShare(),
    budget: options.budget ?? new LoopBudget(),
    jobs: options.jobs,
    ports: options.ports,
    observer: options.observer,
    ...compiled,
    host: exchanges,
    cors: new Cors(corsOrigins),
    nextRequestId: () => ids.next(),
  }
  const connections = new Connections(options.connectionsMax ?? connectionsMax(options.streams ?? 0))
  const isPassedOn = (path: string): boolean => deps.table.isAtRoot(path)
  const { publicUrl = null, proxies = [] } = options
  const origin = { publicUrl, isTls: tls !== null, proxies: new ProxyList(proxies) }
  const listener = await openListener({
    host,
    port,
    tls,
    connections,
    serve(res, req) {
      const head = new RequestHead(req, isPassedOn)
      head.arrived(res, origin)
      if (head.fault === null) return serve(deps, res, head)
      // Cut before any other step: the library would process the bytes that follow as another request.
      res.close()
      options.observer.settled(refusalOf(head.fault, deps.nextRequestId()))
    },
  })
  const load = (): HttpLoad => ({
    calls: exchanges.open.size,
    timers: exchanges.timers.count,
    bodyBytes: bodiesBytesMax - exchanges.budget.left,
  })
  return {
    ...frontOf(listener, { exchanges, connections }),
    connections,
    get load() {
      return load()
    },
    get unreadBytes() {
      return unread.bytes
    },
  }
}

/** The record of a connection that was cut before it became a call, for counters and log. */
function refusalOf(fault: HeadFault, requestId: string): CallSettled {
  return {
    operation: UNROUTED,
    requestId,
    status: 0,
    failure: 'header_invalid',
    cause: fault,
    isClientGone: false,
    startedAt: performance.now(),
    durationMs: 0,
    organizationId: null,
    workspaceId: null,
    keyHash: null,
    limits: null,
    limit: null,
    requestBytes: null,
    replyBytes: null,
    notes: {},
  }
}

function frontOf(
  listener: Listener,
  work: DrainedWork,
): Omit<HttpFront, 'load' | 'connections' | 'unreadBytes'> {
  const stopAccepting = (): void => {
    work.exchanges.isClosing = true
    listener.stopAccepting()
  }
  const ends = { callsAt: Infinity, idleMs: Infinity }
  let draining: Promise<void> | null = null
  return {
    port: listener.port,
    stopAccepting,
    drain(deadlineMs = DRAIN_MS, idleMs = 0) {
      stopAccepting()
      ends.callsAt = Math.min(ends.callsAt, performance.now() + deadlineMs)
      ends.idleMs = Math.min(ends.idleMs, idleMs)
      draining ??= drainOf(listener, work, ends)
      return draining
    },
    close: () => listener.close(),
  }
}

interface DrainedWork {
  readonly exchanges: ExchangeHost
  readonly connections: Pick<Connections, 'open'>
}

interface DrainEnds {
  /** Monotonic milliseconds. */
  readonly callsAt: number
  /** Milliseconds for which connections stay open after the last call. */
  readonly idleMs: number
}

async function drainOf(
  listener: Listener,
  { exchanges, connections }: DrainedWork,
  ends: DrainEnds,
): Promise<void> {
  let calledAt = performance.now()
  do {
    for (let now = performance.now(); now < ends.callsAt; now = performance.now()) {
      if (exchanges.open.size > 0) calledAt = now
      // A stream that began before the drain did not announce that its connection closes: its client may call
      // again.
      else if (connections.open === 0 || now >= calledAt + ends.idleMs) break
      await pause(DRAIN_LOOK_MS)
    }
    exchanges.isOutOfTime = performance.now() >= ends.callsAt
    for (const exchange of exchanges.open.list()) exchange.drain()
    await lastEnds(exchanges)
    // Some of these answers are sent in the next turn; if the loop is blocked, that turn could otherwise begin
    // after the pause has ended.
    await new Promise((resolve) => setImmediate(resolve))
    // The library does not report when the last answers have left its buffers. Another call may arrive
    // meanwhile.
    await pause(connections.open > 0 ? LAST_ANSWERS_MS : 0)
  } while (exchanges.open.size > 0 && !exchanges.isOutOfTime)
  listener.close()
}

/** Waits until the calls that a drain has ended are over. */
async function lastEnds({ open }: ExchangeHost): Promise<void> {
  const endsAt = performance.now() + LAST_ENDS_MS
  while (open.size > 0 && performance.now() < endsAt) await pause(DRAIN_LOOK_MS)
}

const DRAIN_LOOK_MS = 20
/** Milliseconds that calls get to end after their time is over, each with its last event. */
const LAST_ENDS_MS = 1_000
const LAST_ANSWERS_MS = 200

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

interface ListenOptions extends Pick<HttpOptions, 'host' | 'port' | 'tls'> {
  readonly connections: Connections
  /** Must answer, or close, or attach `onAborted`, and must not throw: otherwise the process ends. */
  readonly serve: (res: WireResponse, req: WireRequest) => void
}

interface Listener {
  readonly port: number
  /** Refuses new connections; existing ones continue. */
  stopAccepting(): void
  /** Cuts every connection. */
  close(): void
}

/**
 * Opens the front's only port. No other module uses uWebSockets.js: only its default export exists at run
 * time, and only on the main thread of a process (a worker thread that hosts the library ends the process).
 * Rejects when the address belongs to another user's process or the TLS files cannot be used.
 */
export async function openListener({
  host,
  port,
  tls,
  connections,
  serve,
}: ListenOptions): Promise<Listener> {
  // A setting that the types lack; without it every reply names the library and its version.
  const quiet = uWS as unknown as { _cfg(option: 'silent'): void }
  quiet._cfg('silent')
  if (tls !== null) checkTls(tls)
  const app =
    tls === null ? uWS.App() : uWS.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile })
  app.filter((res: HttpResponse, change) => {
    if (Number(change) < 0) connections.left()
    else if (!connections.came()) res.close()
  })
  app.any('/*', (res: HttpResponse, req: HttpRequest) => serve(res, req))
  return new Promise((resolve, reject) => {
    app.listen(host, port, (socket: us_listen_socket | false) => {
      if (socket === false) reject(new Error(`cannot listen on ${host}:${port}`))
      else resolve(listenerOf(app, socket))
    })
  })
}

/** Checks the TLS files beforehand, since the library reports only that it failed. */
function checkTls({ certFile, keyFile }: NonNullable<ListenOptions['tls']>): void {
  try {
    createSecureContext({ cert: readFileSync(certFile), key: readFileSync(keyFile) })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`the TLS files ${certFile} and ${keyFile} cannot be used: ${reason}`, { cause: error })
  }
}

function listenerOf(app: TemplatedApp, socket: us_listen_socket): Listener {
  let isAccepting = true
  const stopAccepting = (): void => {
    if (isAccepting) uWS.us_listen_socket_close(socket)
    isAccepting = false
  }
  return {
    port: uWS.us_socket_local_port(socket),
    stopAccepting,
    close() {
      isAccepting = false
      app.close()
    },
  }
}
