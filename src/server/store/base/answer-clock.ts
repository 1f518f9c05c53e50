import postgres from 'postgres'

/** SQLSTATE of a write that a read-only session refuses. */
const READ_ONLY = '25006'

export interface AnswerClockOptions {
  /** Called when a session refuses a write because its server or database is read-only. */
  readonly onReadOnly?: () => void
  /** Called when an answer is awaited and none was before. */
  readonly onAwaited?: () => void
  /** Monotonic milliseconds. */
  readonly now?: () => number
}

/** Measures for how long connections owe an answer; while no answer is awaited they owe none. */
export class AnswerClock {
  readonly #now: () => number
  readonly #onReadOnly: () => void
  readonly #onAwaited: () => void
  #awaited = 0
  #since: number

  constructor({
    onReadOnly = () => undefined,
    onAwaited = () => undefined,
    now = () => performance.now(),
  }: AnswerClockOptions = {}) {
    this.#now = now
    this.#onReadOnly = onReadOnly
    this.#onAwaited = onAwaited
    this.#since = now()
  }

  get isAwaiting(): boolean {
    return this.#awaited > 0
  }

  /** Milliseconds without any answer while some are awaited; otherwise 0. */
  get silentMs(): number {
    return this.#awaited === 0 ? 0 : this.#now() - this.#since
  }

  awaits(answer: Promise<unknown>): void {
    this.hears(answer)
    if (this.#awaited++ === 0) {
      this.answered()
      this.#onAwaited()
    }
    const settled = (): void => void this.#awaited--
    listen(answer, settled, settled)
  }

  /** Any answer counts, even a late one or an error: the server is reachable. */
  hears(answer: Promise<unknown>): void {
    listen(
      answer,
      () => this.answered(),
      (problem: unknown) => {
        if (!(problem instanceof postgres.PostgresError)) return
        this.answered()
        if (problem.code === READ_ONLY) this.#onReadOnly()
      },
    )
  }

  answered(): void {
    this.#since = this.#now()
  }
}

/** The library's own `then` would also send a fragment that is meant to be part of another statement. */
function listen(answer: Promise<unknown>, done: () => void, failed: (problem: unknown) => void): void {
  void Promise.prototype.then.call(answer, done, failed)
}
