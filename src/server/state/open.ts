import { Redis, type RedisOptions } from 'ioredis'
import type { Log } from '../ports/observe.ts'

export interface StateOptions {
  /** `redis://` or `rediss://`; null when `socketPath` is given. */
  readonly url: string | null
  readonly socketPath?: string
  readonly log: Log
  /** Monotonic milliseconds. */
  readonly now?: () => number
}

/**
 * The connection to Redis. It connects by itself, for ever; while Redis is away commands are refused at once
 * instead of being queued, so that nothing piles up and nobody waits to find out.
 */
export interface State {
  readonly redis: Redis
  /** True from the first answer on until the connection ends, a heartbeat fails or `trip` is called. */
  readonly isReachable: boolean
  /** Monotonic milliseconds of the last heartbeat that was answered; that of opening before the first. */
  readonly lastAnswerAt: number
  /** Tells that a caller's own deadline passed without an answer: unreachable until the next good heartbeat. */
  trip(): void
  /** Called on every change of `isReachable`. Returns the way to stop it. */
  onChange(listener: (isReachable: boolean) => void): () => void
  /** A second connection of the same kind, for subscribing. */
  duplicate(): Redis
  /** Resolves true as soon as Redis is reachable, false when it is not within `waitMsMax`. */
  whenReachable(waitMsMax: number): Promise<boolean>
  close(): Promise<void>
}

/** Milliseconds between two heartbeats, and the time-out of one and of every command. */
const HEARTBEAT_MS = 250
const COMMAND_MS_MAX = 400
/** Milliseconds of connecting, and the longest pause before the next try: a Redis that is back is seen within 1 s. */
const CONNECT_MS_MAX = 1_000
const RECONNECT_MS_MAX = 400

/** Opens the connection without waiting for it; never throws because Redis is away. Design §3, §6. */
export function openState({ url, socketPath, log, now = () => performance.now() }: StateOptions): State {
  const redis = url === null ? new Redis(socketPath ?? '', OPTIONS) : new Redis(url, OPTIONS)
  const listeners = new Set<(isReachable: boolean) => void>()
  let isReachable = false
  let isClosed = false
  let wasEverAsked = false
  let isBeating = false
  let trips = 0
  let lastAnswerAt = now()

  const set = (next: boolean, cause?: string): void => {
    if (next === isReachable && wasEverAsked) return
    wasEverAsked = true
    isReachable = next
    if (isClosed) return
    if (next) log.info('redis_reachable')
    else log.warn('redis_away', { cause })
    for (const listener of listeners) listener(next)
  }
  const beat = async (): Promise<void> => {
    if (isBeating || redis.status !== 'ready') return
    isBeating = true
    const tripsBefore = trips
    const sentAt = now()
    try {
      await redis.ping()
      lastAnswerAt = sentAt
      if (trips === tripsBefore) set(true)
    } catch (error) {
      set(false, messageOf(error))
      // A connection that is open and silent stays so until the system gives up, minutes later.
      if (redis.status === 'ready' && !isClosed) redis.disconnect(true)
    } finally {
      isBeating = false
    }
  }
  redis.on('ready', () => void beat())
  redis.on('close', () => set(false, 'the connection ended'))
  // The cause of a failed connection; without a listener it would end the process.
  redis.on('error', (error: Error) => set(false, messageOf(error)))
  redis.connect().catch(() => undefined)
  const timer = setInterval(() => void beat(), HEARTBEAT_MS)
  timer.unref()

  return {
    redis,
    get isReachable() { return isReachable },
    get lastAnswerAt() { return lastAnswerAt },
    trip() {
      trips += 1
      set(false, 'no answer in time')
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    duplicate() {
      const copy = redis.duplicate()
      copy.on('error', () => undefined)
      copy.connect().catch(() => undefined)
      return copy
    },
    whenReachable(waitMsMax) {
      if (isReachable) return Promise.resolve(true)
      return new Promise((resolve) => {
        const settle = (answer: boolean): void => {
          clearTimeout(limit)
          listeners.delete(listen)
          resolve(answer)
        }
        const limit = setTimeout(() => settle(false), waitMsMax)
        const listen = (is: boolean): void => {
          if (is) settle(true)
        }
        listeners.add(listen)
      })
    },
    close() {
      isClosed = true
      clearInterval(timer)
      redis.disconnect()
      return Promise.resolve()
    },
  }
}

const OPTIONS = {
  lazyConnect: true,
  enableOfflineQueue: false,
  // Commands that were under way when the connection ended are refused, not sent again: the caller has moved on.
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  commandTimeout: COMMAND_MS_MAX,
  connectTimeout: CONNECT_MS_MAX,
  // ioredis already writes back to back; auto-pipelining only added latency (facts: front end §7).
  enableAutoPipelining: false,
  disableClientInfo: true,
  retryStrategy: (times: number) => Math.min(50 * times, RECONNECT_MS_MAX),
} as const satisfies RedisOptions

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown'
}
