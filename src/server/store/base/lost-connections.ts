import postgres from 'postgres'

/** Codes by which the library and the system say that a connection is gone. */
const GONE_CODES = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
])
/** A server that says one of these closes the connection behind it. */
const LAST_WORDS = /^(FATAL|PANIC)$/

/**
 * Keeps a transaction off a connection that is gone. The library (3.4.9) still sends its `rollback` there,
 * and what else the transaction asks for; that write finds no socket, in a callback where nobody can catch
 * it, and ends the process or leaves a connection that never writes again (porsager/postgres#1154, #1208). So
 * whoever runs a transaction here is told of the loss while the library goes on waiting for it: it is
 * forgotten with the connection.
 */
export function keepOffLostConnections(sql: postgres.Sql): postgres.Sql {
  const begin = sql.begin.bind(sql) as Begin
  const guarded: Begin = (...given) => {
    const run = given.at(-1) as Run
    const options = given.slice(0, -1) as [] | [string]
    let isLost = false
    const outcome = begin(...options, async (tx) => {
      try {
        return await run(offLost(tx, () => isLost))
      } catch (problem) {
        if (isLost || isLoss(problem)) await never()
        throw problem
      }
    })
    // It rejects as soon as the connection is closed, whatever the transaction is doing.
    return outcome.catch((problem: unknown) => {
      isLost = true
      throw problem
    })
  }
  return Object.assign(sql, { begin: guarded })
}

type Run = (tx: postgres.TransactionSql) => unknown
type Begin = (...given: [Run] | [string, Run]) => Promise<unknown>

/** A new one each time: whoever waits for one that is shared is never let go of. */
function never(): Promise<never> {
  return new Promise(() => undefined)
}

function isLoss(problem: unknown): boolean {
  if (problem instanceof postgres.PostgresError) return LAST_WORDS.test(problem.severity)
  // The library adds the statement; of a reader that left, say, there is none.
  return (
    problem instanceof Error &&
    'query' in problem &&
    GONE_CODES.has((problem as NodeJS.ErrnoException).code ?? '')
  )
}

/** A statement that comes after the loss waits for ever, as its transaction does. */
function offLost(tx: postgres.TransactionSql, isLost: () => boolean): postgres.TransactionSql {
  return new Proxy(tx, {
    apply: (statement, self, given: never[]): unknown =>
      isLost() ? never() : Reflect.apply(statement as (...given: never[]) => unknown, self, given),
  })
}
