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

/** Knows since when connections owe an answer; while nothing is awaited they owe none. */
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

  /** Milliseconds without any answer while some are awaited; 0 while none is. */
  get silentMs(): number {
    return this.#awaited === 0 ? 0 : this.#now() - this.#since
  }

  awaits(answer: PromiseLike<unknown>): void {
    if (this.#awaited++ === 0) {
      this.answered()
      this.#onAwaited()
    }
    const settled = (): void => void this.#awaited--
    answer.then(settled, settled)
    this.hears(answer)
  }

  /** Any answer counts, however late, and a refusal too: the server that answers is reachable. */
  hears(answer: PromiseLike<unknown>): void {
    answer.then(
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

type Run = (tx: postgres.TransactionSql) => unknown
type Begin = (...given: [Run] | [string, Run]) => Promise<unknown>

/** The same client; the clock hears of its statements and transactions, and of what these do. */
export function observedBy(clock: AnswerClock, sql: postgres.Sql): postgres.Sql {
  const begin = sql.begin.bind(sql) as Begin
  const observedBegin: Begin = (...given) => {
    const run = given.at(-1) as Run
    const outcome = begin(...(given.slice(0, -1) as [] | [string]), (tx) => {
      clock.answered()
      // A statement may be lost with its transaction and never settle: only the transaction is awaited.
      return run(withNoted(tx, (answer) => clock.hears(answer)))
    })
    clock.awaits(outcome)
    return outcome
  }
  return withNoted(Object.assign(sql, { begin: observedBegin }), (answer) => clock.awaits(answer))
}

type Note = (answer: PromiseLike<unknown>) => void

function withNoted<S extends postgres.Sql | postgres.TransactionSql>(sql: S, note: Note): S {
  return new Proxy(sql, {
    apply: (run, self, given: never[]): unknown =>
      noteWhenSent(Reflect.apply(run as unknown as (...given: never[]) => unknown, self, given), note),
  })
}

/** The library sends a statement at the first wait for its result, and never sends a part by itself. */
function noteWhenSent(statement: unknown, note: Note): unknown {
  if (!(statement instanceof Promise)) return statement
  const then = statement.then.bind(statement) as Promise<unknown>['then']
  const first: typeof then = (...given) => {
    void Object.assign(statement, { then })
    note(statement)
    return then(...given)
  }
  return Object.assign(statement, { then: first })
}
