import postgres from 'postgres'

/** Error codes of the library and the system for a lost connection. */
const GONE_CODES = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
])
/** Severities after which the server closes the connection. */
const LAST_WORDS = /^(FATAL|PANIC)$/

/** Receives the answers of a client. */
export interface Listener {
  /** A transaction, or a statement outside of one: it settles, unless its connection is silent. */
  awaits(answer: Promise<unknown>): void
  /** A statement of a transaction, which may be lost with the transaction and then never settles. */
  hears(answer: Promise<unknown>): void
  /** Called when the server has begun a transaction. */
  answered(): void
}

/**
 * Keeps a transaction from using a connection that is lost. The library (3.4.9) would still send `rollback`
 * and any other statement of the transaction on it. That write fails for lack of a socket, in a callback where
 * no caller can catch the error, and ends the process or leaves a connection that never writes again
 * (porsager/postgres#1154, #1208). The caller of the transaction receives the error of the loss; the library
 * continues to wait for the transaction, which is dropped with the connection.
 */
export function keepOffLostConnections(sql: postgres.Sql, listener: Listener = DEAF): postgres.Sql {
  const begin = sql.begin.bind(sql) as Begin
  const guarded: Begin = (...given) => {
    const run = given.at(-1) as Run
    const options = given.slice(0, -1) as [] | [string]
    let isLost = false
    let lose: (problem: unknown) => void = () => undefined
    const lost = new Promise<unknown>((tell) => (lose = tell)).then((problem): never => {
      throw problem
    })
    const outcome = begin(...options, async (tx) => {
      try {
        listener.answered()
        return await run(
          noted(
            tx,
            (statement) => listener.hears(statement),
            () => isLost,
          ),
        )
      } catch (problem) {
        if (!isLost && !isLoss(problem)) throw problem
        isLost = true
        lose(problem)
        return never()
      }
    })
    listener.awaits(outcome)
    // The library's promise rejects as soon as the socket is closed, regardless of the state of the transaction.
    // If the network drops packets, the socket is closed only after a quarter of an hour; therefore the loss is
    // reported immediately.
    return Promise.race([outcome, lost]).catch((problem: unknown) => {
      isLost = true
      throw problem
    })
  }
  return noted(Object.assign(sql, { begin: guarded }), (statement) => {
    // Two microtasks later `await` has called `then`, which sends a statement. A fragment is never awaited.
    queueMicrotask(() => {
      queueMicrotask(() => {
        if (isSent(statement)) listener.awaits(statement)
      })
    })
  })
}

const DEAF: Listener = { awaits: () => undefined, hears: () => undefined, answered: () => undefined }

/** The library (3.4.9) marks a statement as executed when its result is first awaited. A cursor never settles. */
function isSent(statement: Promise<unknown>): boolean {
  const { executed, cursorRows } = statement as { readonly executed?: boolean; readonly cursorRows?: unknown }
  return executed === true && cursorRows === undefined
}

type Run = (tx: postgres.TransactionSql) => unknown
type Begin = (...given: [Run] | [string, Run]) => Promise<unknown>

/** A new promise for each call: waiters on a shared one would never be freed from memory. */
function never(): Promise<never> {
  return new Promise(() => undefined)
}

function isLoss(problem: unknown): boolean {
  if (problem instanceof postgres.PostgresError) return LAST_WORDS.test(problem.severity)
  // The library adds the statement to its errors; an error without one, such as that of a reader that left, is
  // not a lost connection.
  return (
    problem instanceof Error &&
    'query' in problem &&
    GONE_CODES.has((problem as NodeJS.ErrnoException).code ?? '')
  )
}

/** A statement after the loss waits forever, as its transaction does. */
function noted<S extends postgres.Sql | postgres.TransactionSql>(
  sql: S,
  note: (statement: Promise<unknown>) => void,
  isLost = () => false,
): S {
  return new Proxy(sql, {
    apply: (make, self, given: never[]): unknown => {
      if (isLost()) return never()
      const statement: unknown = Reflect.apply(make as unknown as (...given: never[]) => unknown, self, given)
      if (statement instanceof Promise) note(statement)
      return statement
    },
  })
}
