import { CallEnded } from '../../../schemas/values/call-ended.ts'
import { DEADLINE_GRACE_MS } from '../../../schemas/limits/limits.ts'
import type { Timer, Timers } from '../timers.ts'

/** The part of an exchange that the time of its call uses. */
export interface TimedExchange extends Pick<Timers, 'start'> {
  /** True while the request's body arrives: it has separate limits. */
  readonly isReceiving: boolean
  /** The operation ignored the signal for DEADLINE_GRACE_MS. */
  expire(): void
}

/** The deadline of one call, and the signal that notifies its operation of the call's end, for any reason. */
export class CallTime {
  /** `performance.now()` milliseconds, as all instants here. */
  readonly startedAt = performance.now()
  /** Set anew when the body is complete: time that a slow client takes does not count. */
  deadlineAt = Infinity
  readonly #exchange: TimedExchange
  #deadlineMs = 0
  #timer: Timer | null = null
  /** When the timer fires; Infinity while its callback runs, 0 when no timer is needed. */
  #firesAt = 0
  /** True when the deadline has passed and the operation has received its signal. */
  #isLate = false
  #ended: CallEnded | null = null
  #controller: AbortController | null = null

  constructor(exchange: TimedExchange) {
    this.#exchange = exchange
  }

  /** Created on first use. Its reason is a `CallEnded`. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#ended !== null) this.#controller.abort(this.#ended)
    return this.#controller.signal
  }

  get hasEnded(): boolean {
    return this.#ended !== null
  }

  /** Starts the deadline. At the deadline the signal ends the call; DEADLINE_GRACE_MS later `expire` is called. */
  limit(deadlineMs: number): void {
    this.#deadlineMs = deadlineMs
    this.deadlineAt = this.startedAt + deadlineMs
    this.#arm(this.deadlineAt, this.startedAt)
  }

  /** Restarts the deadline: the operation has its full time from now on. */
  restart(now: number): void {
    this.deadlineAt = now + this.#deadlineMs
    // A timer that fires too early restarts itself, and most never fire. A timer that would fire too late is
    // replaced, since the call would exceed its deadline.
    if (this.#firesAt <= this.deadlineAt) return
    this.#timer?.stop()
    this.#arm(this.deadlineAt, now)
  }

  /** Extends the call's deadline by a wait that does not count as the call's time. */
  allow(ms: number): void {
    this.deadlineAt += ms
  }

  /** Called when the deadline no longer applies. */
  stop(): void {
    this.#firesAt = 0
    this.#timer?.stop()
  }

  /** Signals the end to the operation; only the first reason counts. */
  end(why: CallEnded['why']): void {
    if (this.#ended !== null) return
    this.#ended = new CallEnded(why)
    this.#controller?.abort(this.#ended)
  }

  /** The timer has ended. */
  timeUp(): void {
    this.#firesAt = Infinity
    const now = performance.now()
    if (now < this.deadlineAt) return this.#arm(this.deadlineAt, now)
    if (this.#exchange.isReceiving) return this.restart(now)
    if (this.#isLate) return this.#exchange.expire()
    this.#isLate = true
    this.end('deadline')
    // Counted from the signal, not from the deadline: after a blocked loop the operation receives the signal
    // only now.
    this.#arm(now + DEADLINE_GRACE_MS, now)
  }

  #arm(at: number, now: number): void {
    this.#firesAt = at
    this.#timer = this.#exchange.start(at - now, this, now)
  }
}
