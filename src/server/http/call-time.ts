import { CallEnded } from '../../schemas/call-ended.ts'
import { DEADLINE_GRACE_MS } from '../../schemas/limits.ts'
import type { Timer, Timers } from './timers.ts'

/** What the time of a call asks of its exchange and tells it. */
export interface TimedExchange extends Pick<Timers, 'start'> {
  /** The request's body is on its way: it has limits of its own. */
  readonly isReceiving: boolean
  /** The signal was ignored for DEADLINE_GRACE_MS. */
  expire(): void
}

/** How long one call may take, and the signal by which its operation hears that it is over, for whatever reason. */
export class CallTime {
  /** `performance.now()` milliseconds, as all instants here. */
  readonly startedAt = performance.now()
  /** Moves on when the body is complete, whose slowness is not ours. */
  deadlineAt = Infinity
  readonly #exchange: TimedExchange
  #deadlineMs = 0
  #timer: Timer | null = null
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
    this.#timer = this.#exchange.start(deadlineMs, () => this.#onTimer(), this.startedAt)
  }

  /** The operation has its whole time from now on. */
  restart(now: number): void {
    this.deadlineAt = now + this.#deadlineMs
  }

  /** The call may take so much longer, for something that is not its own time. */
  allow(ms: number): void {
    this.deadlineAt += ms
  }

  /** Nobody waits for the deadline any more. */
  stop(): void {
    this.#timer?.stop()
  }

  /** Tells the operation; only the first reason counts. */
  end(why: CallEnded['why']): void {
    if (this.#ended !== null) return
    this.#ended = new CallEnded(why)
    this.#controller?.abort(this.#ended)
  }

  #onTimer(): void {
    const now = performance.now()
    const late = now - this.deadlineAt
    if (late >= DEADLINE_GRACE_MS) return this.#exchange.expire()
    let next = -late
    if (late >= 0) {
      const { isReceiving } = this.#exchange
      if (isReceiving) this.restart(now)
      else this.end('deadline')
      next = isReceiving ? this.#deadlineMs : DEADLINE_GRACE_MS - late
    }
    this.#timer = this.#exchange.start(next, () => this.#onTimer())
  }
}
