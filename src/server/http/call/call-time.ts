import { CallEnded } from '../../../schemas/values/call-ended.ts'
import { DEADLINE_GRACE_MS } from '../../../schemas/limits/limits.ts'
import type { Timer, Timers } from '../timers.ts'

/** What the time of a call asks of its exchange and tells it. */
export interface TimedExchange extends Pick<Timers, 'start'> {
  /** The request's body is on its way: it has limits of its own. */
  readonly isReceiving: boolean
  /** The signal was ignored for DEADLINE_GRACE_MS. */
  expire(): void
}

/**
 * How long one call may take, and the signal by which its operation hears that it is over, for whatever
 * reason.
 */
export class CallTime {
  /** `performance.now()` milliseconds, as all instants here. */
  readonly startedAt = performance.now()
  /** Moves on when the body is complete, whose slowness is not ours. */
  deadlineAt = Infinity
  readonly #exchange: TimedExchange
  #deadlineMs = 0
  #timer: Timer | null = null
  /** Infinity while it fires, 0 when nobody waits for it. */
  #firesAt = 0
  /** The deadline has passed, and the operation was told. */
  #isLate = false
  #ended: CallEnded | null = null
  #controller: AbortController | null = null

  constructor(exchange: TimedExchange) {
    this.#exchange = exchange
  }

  /** Made on first use. Its reason is a `CallEnded`. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#ended !== null) this.#controller.abort(this.#ended)
    return this.#controller.signal
  }

  get hasEnded(): boolean {
    return this.#ended !== null
  }

  /** Starts the deadline. After it the signal ends the call; DEADLINE_GRACE_MS later `expire` is called. */
  limit(deadlineMs: number): void {
    this.#deadlineMs = deadlineMs
    this.deadlineAt = this.startedAt + deadlineMs
    this.#arm(this.deadlineAt, this.startedAt)
  }

  /** The operation has its whole time from now on. */
  restart(now: number): void {
    this.deadlineAt = now + this.#deadlineMs
    // A timer that fires too early starts itself anew, and most never fire; one that fires too late would let
    // the call run on.
    if (this.#firesAt <= this.deadlineAt) return
    this.#timer?.stop()
    this.#arm(this.deadlineAt, now)
  }

  /** The call may take so much longer, for something that is not its own time. */
  allow(ms: number): void {
    this.deadlineAt += ms
  }

  /** Nobody waits for the deadline any more. */
  stop(): void {
    this.#firesAt = 0
    this.#timer?.stop()
  }

  /** Tells the operation; only the first reason counts. */
  end(why: CallEnded['why']): void {
    if (this.#ended !== null) return
    this.#ended = new CallEnded(why)
    this.#controller?.abort(this.#ended)
  }

  #onTimer(): void {
    this.#firesAt = Infinity
    const now = performance.now()
    if (now < this.deadlineAt) return this.#arm(this.deadlineAt, now)
    if (this.#exchange.isReceiving) return this.restart(now)
    if (this.#isLate) return this.#exchange.expire()
    this.#isLate = true
    this.end('deadline')
    // Counted from the signal, not from the deadline: on a loop that was blocked the operation hears of it
    // only now.
    this.#arm(now + DEADLINE_GRACE_MS, now)
  }

  #arm(at: number, now: number): void {
    this.#firesAt = at
    this.#timer = this.#exchange.start(at - now, () => this.#onTimer(), now)
  }
}
