import { readFileSync } from 'node:fs'
import { Redis, type RedisOptions, SentinelConnector, type SentinelConnectionOptions } from 'ioredis'
import { readRedisUrl } from '../../schemas/values/store-urls.ts'
import type { Log } from '../ports/observe.ts'
import { every, type Repetition } from '../structures/ticks.ts'

export interface StateOptions {
  /** `redis://` or `rediss://`; null when `socketPath` is given. */
  readonly url: string | null
  readonly socketPath?: string
  readonly log: Log
  /** Monotonic milliseconds. */
  readonly now?: () => number
  /** True: each heartbeat is a write, for a process that sends no scripts of its own. */
  readonly isJudging?: boolean
}

/** Milliseconds between two pings while commands are sent, or Redis is unreachable. */
const PING_MS = 250
/**
 * Milliseconds between two pings of an idle process: together with the time for a ping and for reading its
 * result, the node reports within 2 s that Redis is unreachable. Commands in between have a deadline of their
 * own.
 */
const RESTING_PING_MS = 1_000
/** Milliseconds without commands after which a process counts as idle. Decision. */
const REST_AFTER_MS = 5_000
/** Milliseconds after which an unanswered ping means that Redis is unreachable. */
const PING_MS_MAX = 400
/** Milliseconds that a command may take; a heartbeat that takes longer ends the connection. */
const COMMAND_MS_MAX = 2_500
/**
 * Milliseconds between two new connections to a server that refuses writes: after a failover its name may
 * resolve to the new primary. Decision.
 */
const REFUSED_RECONNECT_MS = 1_000
/** Logged causes of one outage. Decision. */
const CAUSES_MAX = 5
/** A write like those for the rates, so that it is refused whenever they are. The key lives for a second. */
const WRITE = "return redis.call('SET', KEYS[1], 1, 'PX', 1000)"
const WRITE_KEY = 'sluice:beat'
/** The code of a refusal; older servers put it after the name of the script. */
const REFUSAL =
  /\b(READONLY|OOM|MISCONF|NOPERM|NOSCRIPT|NOREPLICAS|MOVED|CLUSTERDOWN|MASTERDOWN|LOADING|NOAUTH|ERR)\b/
/** Milliseconds that connecting may take: Redis is used again within 1 s after it returns. */
const CONNECT_MS_MAX = 1_000
/** Longest pause in milliseconds before the next attempt to connect: Redis is used again within 1 s after it returns. */
const RECONNECT_MS_MAX = 400

/** Opens the connection without waiting for it; does not throw when Redis is unreachable. Design §3, §6. */
export function openState(options: StateOptions): State {
  return new State(options)
}

/**
 * The connection to Redis, which reconnects by itself without limit. While Redis is unreachable, commands are
 * refused immediately instead of queued, so that no queue grows and no caller waits for a timeout.
 */
export class State {
  readonly redis: Redis
  readonly #log: Log
  readonly #now: () => number
  #beats: Repetition
  readonly #listeners = new Set<(isReachable: boolean) => void>()
  /** Null until the first attempt to connect has ended, so that its result is logged too. */
  #isReachable: boolean | null = null
  #isBeating = false
  #isClosed = false
  #trips = 0
  #lastAnswerAt: number
  readonly #isJudging: boolean
  /** Code with which Redis refuses scripts; null: it accepts them. */
  #refusal: string | null = null
  #reconnectedAt = -Infinity
  /** Logged causes of the current outage. */
  readonly #causes = new Set<string>()
  readonly #refusals = new Map<string, number>()
  /** Time of the last answer to a command, or of the last sign that Redis may be unreachable. */
  #usedAt: number
  #isSlow = false

  constructor({ url, socketPath, log, now = () => performance.now(), isJudging = false }: StateOptions) {
    this.redis = url === null ? new Redis(socketPath ?? '', OPTIONS) : clientOf(url, log)
    this.#log = log
    this.#now = now
    this.#isJudging = isJudging
    this.#lastAnswerAt = now()
    this.#usedAt = now()
    this.redis.on('ready', () => void this.#beat())
    this.redis.on('close', () => this.#set(false, 'the connection ended'))
    // Without a listener the cause of a failed connection would end the process.
    this.redis.on('error', (error: Error) => {
      this.#set(false, error.message)
      if (isRefusal(error)) this.#logRefusal(error.message)
    })
    this.redis.connect().catch(() => undefined)
    this.#beats = this.#beatEvery(PING_MS)
  }

  /** True from the first answer until the connection ends, a heartbeat fails or `trip` is called. */
  get isReachable(): boolean {
    return this.#isReachable === true
  }

  /** Monotonic milliseconds of the last answer, or of the opening before the first answer. */
  get lastAnswerAt(): number {
    return this.#lastAnswerAt
  }

  answered(): void {
    this.#lastAnswerAt = this.#now()
    this.#used(this.#lastAnswerAt)
  }

  /** Records that a caller's own deadline passed without an answer: Redis counts as unreachable until the next successful heartbeat. */
  trip(): void {
    this.#trips += 1
    this.#set(false, 'no answer in time')
  }

  /**
   * Records that Redis refused a script: Redis counts as unreachable until it accepts a write. Pings are not
   * enough: Redis answers them even as a replica, with full memory, without the needed rights, or as a
   * cluster.
   */
  refused(problem: Error): void {
    const code = REFUSAL.exec(problem.message)?.[1] ?? 'ERR'
    this.#refusals.set(code, (this.#refusals.get(code) ?? 0) + 1)
    this.#trips += 1
    this.#refusal = code
    this.#set(false, `Redis refuses writes: ${CAUSES[code] ?? problem.message}`)
  }

  /** Refused scripts by the error code of Redis, since the start. */
  get refusals(): ReadonlyMap<string, number> {
    return this.#refusals
  }

  /** Adds a listener for every change of `isReachable`. @returns a function that removes the listener */
  onChange(listener: (isReachable: boolean) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** A second connection of the same kind, for subscribing; its owner subscribes again on `ready`. */
  duplicate(): Redis {
    // The renewal by ioredis itself rejects without a handler when the connection ends meanwhile, which ends the
    // process.
    const copy = this.redis.duplicate({ autoResubscribe: false })
    copy.on('error', () => undefined)
    copy.connect().catch(() => undefined)
    return copy
  }

  /** Resolves true as soon as Redis is reachable, false when this takes longer than `waitMsMax`. */
  whenReachable(waitMsMax: number): Promise<boolean> {
    if (this.isReachable) return Promise.resolve(true)
    return new Promise((resolve) => {
      const settle = (answer: boolean): void => {
        clearTimeout(limit)
        stop()
        resolve(answer)
      }
      const limit = setTimeout(() => settle(false), waitMsMax)
      const stop = this.onChange((isReachable) => {
        if (isReachable) settle(true)
      })
    })
  }

  /** True when the server is a node of a cluster; also false while it is unreachable. */
  async isCluster(): Promise<boolean> {
    if (!this.isReachable && this.#refusal === null) return false
    return /^cluster_enabled:1/m.test(await this.redis.info('cluster').catch(() => ''))
  }

  close(): Promise<void> {
    this.#isClosed = true
    this.#beats.stop()
    this.redis.disconnect()
    return Promise.resolve()
  }

  #logCause(cause?: string): void {
    if (cause !== undefined) this.#causes.add(cause)
    this.#log.warn('redis_away', { cause })
  }

  /** The cause may change during an outage: for example, the new primary after a failover may lack the user. */
  #logRefusal(cause: string): void {
    if (this.#isClosed || this.#causes.has(cause) || this.#causes.size >= CAUSES_MAX) return
    this.#logCause(cause)
  }

  async #beat(): Promise<void> {
    if (this.#isBeating || this.redis.status !== 'ready') return
    this.#isBeating = true
    const trips = this.#trips
    let isAnswered = false
    // An event loop that was blocked must first read an answer that is already in the socket before Redis counts
    // as unreachable.
    const late = setTimeout(
      () =>
        setImmediate(() => {
          if (!isAnswered) this.#set(false, 'Redis does not answer heartbeats')
        }),
      PING_MS_MAX,
    )
    try {
      if (this.#isJudging || this.#refusal !== null) await this.redis.eval(WRITE, 1, WRITE_KEY)
      else await this.redis.ping()
      this.#lastAnswerAt = this.#now()
      if (this.#trips !== trips) return
      this.#refusal = null
      this.#set(true)
    } catch (error) {
      if (isRefusal(error)) return this.#stayRefused(error)
      this.#set(false, error instanceof Error ? error.message : 'unknown')
      // A silent connection would stay open until the operating system gives it up, minutes later.
      if (this.redis.status === 'ready' && !this.#isClosed) this.redis.disconnect(true)
    } finally {
      isAnswered = true
      clearTimeout(late)
      this.#isBeating = false
    }
    this.#restWhenUnused()
  }

  #stayRefused(problem: Error): void {
    this.refused(problem)
    if (this.#isClosed || this.#now() - this.#reconnectedAt < REFUSED_RECONNECT_MS) return
    this.#reconnectedAt = this.#now()
    this.redis.disconnect(true)
  }

  #beatEvery(ms: number): Repetition {
    return every(ms, () => void this.#beat())
  }

  #used(at: number): void {
    this.#usedAt = at
    if (this.#isSlow) this.#pace(false)
  }

  /**
   * The rate that fronts allow without Redis grows with the time since the last answer: rare pings while idle
   * must not make it grow longer than frequent ones.
   */
  #away(): void {
    const now = this.#now()
    if (this.#isSlow) this.#lastAnswerAt = Math.max(this.#lastAnswerAt, now - PING_MS)
    this.#used(now)
  }

  #restWhenUnused(): void {
    if (!this.#isSlow && this.isReachable && this.#now() - this.#usedAt >= REST_AFTER_MS) this.#pace(true)
  }

  #pace(isSlow: boolean): void {
    if (this.#isClosed) return
    this.#isSlow = isSlow
    this.#beats.stop()
    this.#beats = this.#beatEvery(isSlow ? RESTING_PING_MS : PING_MS)
  }

  #set(next: boolean, cause?: string): void {
    if (!next) this.#away()
    if (next === this.#isReachable || this.#isClosed) return
    const isFirst = this.#isReachable === null
    this.#isReachable = next
    // The return of Redis is logged only after an outage.
    this.#causes.clear()
    if (next) this.#log[isFirst ? 'debug' : 'info']('redis_reachable')
    else this.#logCause(cause)
    for (const listener of this.#listeners) listener(next)
  }
}

/** Throws when the file of certificate authorities cannot be read. */
function clientOf(url: string, log: Log): Redis {
  const { sentinels, isTls, rootCertificates, href, ...address } = readRedisUrl(url)
  const tls = rootCertificates === null ? {} : { ca: readFileSync(rootCertificates) }
  if (sentinels === null) return new Redis(href, { ...OPTIONS, ...(isTls && { tls }) })
  const { name, db, username, password, sentinelPassword } = address
  return new Redis({
    ...OPTIONS,
    sentinels: [...sentinels],
    Connector: sentinelConnector(log),
    name,
    db,
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    ...(sentinelPassword !== null && { sentinelPassword }),
    ...(isTls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
    sentinelRetryStrategy: OPTIONS.retryStrategy,
    sentinelCommandTimeout: COMMAND_MS_MAX,
    // The Sentinels announce a new primary before the old connection ends.
    failoverDetector: true,
  })
}

/** Explanations of Redis error codes for the operator. */
const CAUSES: Readonly<Record<string, string>> = {
  READONLY: 'READONLY, this Redis is a replica',
  OOM: 'OOM, Redis has reached its maxmemory',
  MISCONF: 'MISCONF, Redis cannot save to its disk',
  NOPERM: 'NOPERM, the Redis user may not run scripts or use keys of sluice:*',
  NOSCRIPT: 'NOSCRIPT, Redis keeps losing scripts',
  NOREPLICAS: 'NOREPLICAS, Redis has too few replicas',
  MOVED: 'MOVED, Redis runs as a cluster, which Sluice does not support',
}

/** True for an error reply of Redis; false for a lost connection. */
export function isRefusal(problem: unknown): problem is Error {
  return problem instanceof Error && problem.name === 'ReplyError'
}

/** Sets how often the server wakes up by itself. @returns true when the server accepted the setting */
export async function setHz({ redis }: State, hz: number): Promise<boolean> {
  return redis.config('SET', 'hz', hz).then(
    () => true,
    () => false,
  )
}

const OPTIONS = {
  lazyConnect: true,
  enableOfflineQueue: false,
  // Commands that were pending when the connection ended are refused, not sent again: their callers no longer
  // wait.
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  commandTimeout: COMMAND_MS_MAX,
  connectTimeout: CONNECT_MS_MAX,
  // ioredis already writes back to back; auto-pipelining only added latency.
  enableAutoPipelining: false,
  disableClientInfo: true,
  retryStrategy: (times: number) => Math.min(50 * times, RECONNECT_MS_MAX),
} as const satisfies RedisOptions

/**
 * TLS error code of a Sentinel when a connection is closed during the handshake, as the client does with
 * connections of its failover detector.
 */
const ENDED_BY_US = 'ERR_SSL_TLSV1_ALERT_DECODE_ERROR'

interface Place {
  readonly host?: string
  readonly port?: number
}

/** Members that the types of the library hide. */
interface Connects {
  connectToSentinel(place: Place, options?: object): Redis
  failoverDetector: { cleanup(): void } | null
}

/**
 * A connector that works around two bugs of the library (5.11.1). First, the library has no listener for
 * errors of its failover detector and prints each of them; here one line is logged when a Sentinel becomes
 * unreachable and one when it is back, once in each process. Second, the detector outlives its connection: if
 * it learned of the new primary while a new connection was asking the Sentinels for it, the client ended and
 * never connected again.
 */
function sentinelConnector(log: Log): NonNullable<RedisOptions['Connector']> {
  const away = new Set<string>()
  const withListeners = (client: Redis, { host = '', port = 0 }: Place): Redis => {
    const sentinel = `${host}:${port}`
    client.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (code === ENDED_BY_US || away.has(sentinel)) return
      away.add(sentinel)
      log.warn('sentinel_away', { sentinel, cause: message })
    })
    client.on('ready', () => {
      if (away.delete(sentinel)) log.info('sentinel_reachable', { sentinel })
    })
    return client
  }
  return class extends SentinelConnector {
    constructor(options: unknown) {
      super(options as SentinelConnectionOptions)
      const own = this as unknown as Connects
      const connect = own.connectToSentinel.bind(this)
      own.connectToSentinel = (place, more) => withListeners(connect(place, more), place)
    }

    override connect(
      ...given: Parameters<SentinelConnector['connect']>
    ): ReturnType<SentinelConnector['connect']> {
      const own = this as unknown as Connects
      own.failoverDetector?.cleanup()
      own.failoverDetector = null
      return super.connect(...given)
    }
  }
}
