import { endedBy } from '../../schemas/values/call-ended.ts'
import { fail, type Outcome } from '../../schemas/failures.ts'
import type { Caller } from '../../schemas/values/callers.ts'
import { UPSTREAM_STREAMS_MAX } from '../../schemas/models/provider-limits.ts'
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
import { Attempt, type AttemptHome } from './attempt.ts'
import type { Connect } from './connect.ts'
import type { OriginClient } from './handler.ts'
import { StreamAttempt, type StreamHome } from './stream.ts'
import { TwoClients } from './two-clients.ts'
import { UndiciClient, type PoolLimits } from './undici-client.ts'
import { CallerShares } from '../../schemas/values/callers.ts'

/** Seconds after which a call that found no place may be retried (`Retry-After`). Decision. */
export const LONG_CALLS_RETRY_S = 1

/** Milliseconds by which the end of an attempt, or the disconnect of a waiting request's caller, may be noticed late. */
const TICK_MS = 10

export interface PoolDeps {
  readonly budget: AnswerBudget
  readonly connect: Connect
  /** Connector of the lean client, which a trusted origin uses in addition to undici; null or absent: only undici. */
  readonly connectLean?: Connect | null
  readonly limits: PoolLimits
  /** Places of which every call of the pool takes one, and which other pools may share; absent: only the limits apply. */
  readonly places?: LongPlaces
}

/** A keep-alive pool to one origin. Design §9. */
export class PooledOrigin implements TrustedOrigin, AttemptHome, StreamHome {
  readonly budget: AnswerBudget
  /** Attempts that a client has not finished with, settled or not. */
  calls = 0
  #streams = 0
  readonly #client: OriginClient
  readonly #callsMax: number
  readonly #places: LongPlaces | undefined
  /** Attempts that are not settled. */
  readonly #open = new SwapList<Attempt>()
  #clock: NodeJS.Timeout | null = null

  constructor(origin: string, { budget, connect, connectLean = null, limits, places }: PoolDeps) {
    this.budget = budget
    this.#places = places
    this.#callsMax = limits.connections + limits.waiting
    this.#client =
      connectLean === null
        ? new UndiciClient(origin, { connect, limits })
        : new TwoClients(origin, { connect: connectLean, connectUndici: connect, limits })
  }

  call(request: EgressRequest): Promise<Outcome<EgressAnswer>> {
    const refused = this.#enter(request.caller)
    if (refused !== null) return Promise.resolve(refused)
    return new Promise((settle) => {
      const attempt = new Attempt(request, this, settle)
      if (attempt.isSettled) return this.ended(attempt)
      this.#open.add(attempt)
      this.#clock ??= setInterval(this.#tick, TICK_MS).unref()
      this.#client.dispatch(attempt)
    })
  }

  open(request: EgressStreamRequest): Promise<Outcome<EgressStream>> {
    if (this.#streams >= UPSTREAM_STREAMS_MAX) return Promise.resolve(fail('busy'))
    if (request.signal.aborted) return Promise.resolve({ ok: false, failure: endedBy(request.signal) })
    const { beginsBy } = request
    // Calls and downloads have separate limits.
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
    return new Promise((settle) => this.#client.dispatch(new StreamAttempt(request, this, settle)))
  }

  repeatStream(attempt: StreamAttempt): void {
    // As in `repeat`.
    queueMicrotask(() => this.#client.dispatch(attempt))
  }

  streamEnded(attempt: StreamAttempt): void {
    this.#streams--
    this.#leave(attempt)
  }

  repeat(attempt: Attempt): void {
    // Deferred, since the client is still handling the failed connection.
    queueMicrotask(() => this.#client.dispatch(attempt))
  }

  settled(attempt: Attempt): void {
    this.#open.delete(attempt)
  }

  ended(attempt: Attempt): void {
    this.#leave(attempt)
  }

  destroy(): Promise<void> {
    return this.#client.destroy()
  }

  #leave({ request }: Attempt | StreamAttempt): void {
    this.calls--
    this.#places?.giveBack(request.caller)
  }

  /**
   * One clock for all attempts: a timer for each would cost more than it watches, and undici's own clock ticks
   * once a second. A request that is still unsent at a second tick is waiting for a connection. Before that it
   * may only be waiting for the end of a turn of the loop, which does not justify listening to a signal.
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

/** Names of headers that only the gate writes, or that apply to one connection. */
const OURS: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'expect',
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

const OURS_AND_ENCODING: ReadonlySet<string> = new Set([...OURS, 'accept-encoding'])

/** The headers of a request without the headers that the gate writes itself. */
export function sendable(headers: readonly string[]): readonly string[] {
  return without(headers, OURS)
}

/** Requests an answer without compression: an answer that is small on the wire could be large in memory, and compression delays a stream. */
export function plainly(headers: readonly string[]): readonly string[] {
  return [...without(headers, OURS_AND_ENCODING), 'accept-encoding', 'identity']
}

function without(headers: readonly string[], names: ReadonlySet<string>): readonly string[] {
  return headers.filter((_, nth) => !names.has((headers[nth - (nth % 2)] ?? '').toLowerCase()))
}

/** Share of the places for long calls that one organization holds at most, but at least one place. */
export const LONG_CALLS_ORGANIZATION_SHARE = 1 / 2

/** Share of the places for long calls that one workspace holds at most, but at least one place. Decision. */
export const LONG_CALLS_WORKSPACE_SHARE = 7 / 16

/** Share of the places for long calls that one key holds at most, but at least one place. Decision. */
export const LONG_CALLS_KEY_SHARE = 3 / 8

/**
 * The places for long calls of one front, over all trusted origins: in all, and for each organization,
 * workspace and key. A call does not wait for a place, since a place may stay taken for minutes.
 */
export class LongPlaces {
  readonly #max: number
  readonly #shares: CallerShares
  #taken = 0

  constructor(max: number) {
    this.#max = max
    this.#shares = new CallerShares({
      organization: shareOf(max, LONG_CALLS_ORGANIZATION_SHARE),
      workspace: shareOf(max, LONG_CALLS_WORKSPACE_SHARE),
      key: shareOf(max, LONG_CALLS_KEY_SHARE),
    })
  }

  /** @param caller absent: a call of the operator, which counts for no share */
  take(caller: Caller | undefined): boolean {
    if (this.#taken >= this.#max) return false
    if (caller !== undefined) {
      if (!this.#shares.fits(1, caller)) return false
      this.#shares.add(1, caller)
    }
    this.#taken++
    return true
  }

  /** @param caller as it was given to `take` */
  giveBack(caller: Caller | undefined): void {
    this.#taken--
    if (caller !== undefined) this.#shares.add(-1, caller)
  }
}

/** The share in places, at least one: a front with one place serves all callers in turn. */
function shareOf(max: number, share: number): number {
  return Math.max(1, Math.floor(max * share))
}
