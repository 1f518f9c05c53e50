import { Readable } from 'node:stream'
import { Pool } from 'undici'
import { endedBy } from '../../schemas/values/call-ended.ts'
import { fail, type Outcome } from '../../schemas/failures.ts'
import type { Caller } from '../../schemas/values/callers.ts'
import { LONG_CALLS_RETRY_S, UPSTREAM_STREAMS_MAX } from '../../schemas/models/provider-limits.ts'
import { SwapList } from '../structures/swap-list.ts'
import type {
  EgressAnswer,
  EgressExchange,
  EgressExchangeRequest,
  EgressRequest,
  EgressStream,
  EgressStreamRequest,
  TrustedOrigin,
} from '../ports/egress/egress.ts'
import type { AnswerBudget } from './answer-budget.ts'
import { Attempt, type AttemptHome, type Queued } from './attempt.ts'
import type { Connect } from './connect.ts'
import type { LongPlaces } from './long-places.ts'
import { broken, detach } from './undici-parser.ts'
import { bodyOf } from './request-body.ts'
import { StreamAttempt, type StreamHome } from './stream.ts'

/**
 * Milliseconds by which the end of an attempt, or the leave of a waiting request's caller, may be noticed
 * late.
 */
const TICK_MS = 10

export interface PoolLimits {
  readonly connections: number
  /** Calls that may wait for a connection. */
  readonly waiting: number
  /** Milliseconds that an idle connection is kept when the other side names no time. */
  readonly keepAliveTimeout: number
  /** Milliseconds that an idle connection is kept at most. */
  readonly keepAliveMaxTimeout?: number
  /** Bytes of the headers of a response; absent: as Node's own client. */
  readonly maxHeaderSize?: number
}

export interface PoolDeps {
  readonly budget: AnswerBudget
  readonly connect: Connect
  readonly limits: PoolLimits
  /** Every call of the pool takes a place, which other pools may share. Absent: the limits alone count. */
  readonly places?: LongPlaces
}

/** A keep-alive pool to one origin. Design §9. */
export class PooledOrigin implements TrustedOrigin, AttemptHome, StreamHome {
  readonly budget: AnswerBudget
  /** Attempts that undici still has, settled or not. */
  calls = 0
  #streams = 0
  /** Attempts without a connection so far. */
  #queued = 0
  readonly #pool: Pool
  readonly #callsMax: number
  readonly #places: LongPlaces | undefined
  readonly #staleErrors = new WeakSet<Error>()
  readonly #socketErrors = new WeakSet<Error>()
  /** Attempts that are not settled. */
  readonly #open = new SwapList<Attempt>()
  #clock: NodeJS.Timeout | null = null

  constructor(origin: string, { budget, connect, limits, places }: PoolDeps) {
    const { waiting, ...ofPool } = limits
    this.budget = budget
    this.#places = places
    this.#callsMax = limits.connections + waiting
    this.#pool = new Pool(origin, {
      ...ofPool,
      pipelining: 1,
      // Sluice's own timeouts are finer, and cover the whole attempt.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (options, connected) => {
        // undici connects once more for a request that was cut, although no request waits for that
        // connection.
        queueMicrotask(() => {
          if (this.#queued === 0) connected(new Error('nobody waits for a connection'), null)
          else connect(options, (...made) => connected(...this.#noted(made)))
        })
      },
    })
  }

  call(request: EgressRequest): Promise<Outcome<EgressAnswer>> {
    const refused = this.#enter(request.caller)
    if (refused !== null) return Promise.resolve(refused)
    return new Promise((settle) => {
      const attempt = new Attempt(request, this, settle)
      if (attempt.isSettled) return this.ended(attempt)
      this.#open.add(attempt)
      this.#clock ??= setInterval(this.#tick, TICK_MS).unref()
      this.#dispatch(attempt)
    })
  }

  open(request: EgressStreamRequest): Promise<Outcome<EgressStream>> {
    if (this.#streams >= UPSTREAM_STREAMS_MAX) return Promise.resolve(fail('busy'))
    if (request.signal.aborted) return Promise.resolve({ ok: false, failure: endedBy(request.signal) })
    const { beginsBy } = request
    // Calls and downloads have bounds of their own.
    this.calls++
    return this.#begin({ ...request, method: 'GET', body: null, bodyBytes: null, beginsBy: () => beginsBy })
  }

  /** Same as `VettedOrigin.exchange`. */
  exchange(request: EgressExchangeRequest): Promise<Outcome<EgressExchange>> {
    if (request.signal.aborted) return Promise.resolve({ ok: false, failure: endedBy(request.signal) })
    const refused = this.#enter(request.caller)
    return refused === null ? this.#begin(request) : Promise.resolve(refused)
  }

  #enter(caller: Caller | undefined): Outcome<never> | null {
    if (this.#places?.take(caller) === false) return fail('busy', { retryAfterS: LONG_CALLS_RETRY_S })
    if (this.calls >= this.#callsMax) {
      this.#places?.giveBack(caller)
      return fail('busy')
    }
    this.calls++
    return null
  }

  #begin(request: EgressExchangeRequest): Promise<Outcome<EgressExchange>> {
    this.#streams++
    return new Promise((settle) => this.#dispatch(new StreamAttempt(request, this, settle)))
  }

  repeatStream(attempt: StreamAttempt): void {
    // As in `repeat`.
    queueMicrotask(() => this.#dispatch(attempt))
  }

  streamEnded(attempt: StreamAttempt): void {
    this.#streams--
    this.#leave(attempt)
  }

  unqueued(attempt: Queued): void {
    if (attempt.isQueued) this.#queued--
    attempt.isQueued = false
  }

  isOfSocket(error: Error): boolean {
    return this.#socketErrors.has(error)
  }

  isStale(error: Error): boolean {
    if (this.#staleErrors.has(error)) return true
    // undici itself creates this error when the other side closed the connection properly; the error shows
    // how much the socket had read.
    const { socket } = error as { socket?: { bytesRead?: number } }
    return (socket?.bytesRead ?? 0) > 0
  }

  repeat(attempt: Attempt): void {
    // undici is still failing the connection: the request follows after that.
    queueMicrotask(() => this.#dispatch(attempt))
  }

  settled(attempt: Attempt): void {
    this.#open.delete(attempt)
  }

  ended(attempt: Attempt): void {
    this.#leave(attempt)
  }

  destroy(): Promise<void> {
    return this.#pool.destroy()
  }

  #leave({ request }: Attempt | StreamAttempt): void {
    this.calls--
    this.#places?.giveBack(request.caller)
  }

  /** Runs before undici's own listeners end or fail the request on the connection. */
  #noted(made: Parameters<Parameters<Connect>[1]>): Parameters<Parameters<Connect>[1]> {
    const [, socket] = made
    socket?.on('end', () => detach(socket))
    socket?.on('error', (cause: Error) => {
      broken(socket)
      this.#socketErrors.add(cause)
      if (socket.bytesRead > 0) this.#staleErrors.add(cause)
    })
    return made
  }

  #dispatch(attempt: Attempt | StreamAttempt): void {
    attempt.isQueued = true
    this.#queued++
    const { method, path, headers, body, bodyBytes = null } = attempt.request
    const { content, lengthHeader } = bodyOf(body)
    const length = lengthHeader ?? (body instanceof Readable && bodyBytes !== null ? String(bodyBytes) : null)
    const all = length === null ? headers : [...headers, 'content-length', length]
    this.#pool.dispatch({ method, path, headers: all as string[], body: content }, attempt)
  }

  /**
   * One clock for all attempts: a timer for each would cost more than it watches, and undici's own clock
   * ticks once a second. A request that a second tick finds unsent is waiting for a connection. Before that
   * the request only waits for the turn in which undici rests a kept-alive connection, which does not justify
   * a signal.
   */
  readonly #tick = (): void => {
    if (this.#open.size === 0 && this.#clock !== null) {
      clearInterval(this.#clock)
      this.#clock = null
      return
    }
    const now = performance.now()
    this.#open.each((attempt) => {
      if (now >= attempt.request.attemptEndsAt) attempt.timeUp()
      else if (!attempt.isSent && attempt.isWaiting) attempt.watch()
      else attempt.isWaiting = !attempt.isSent
    })
  }
}
