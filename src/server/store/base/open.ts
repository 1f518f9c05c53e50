import postgres from 'postgres'
import type { Caps } from '../../../schemas/operator/caps.ts'
import { LOCK_WAIT_MS_MAX, STATEMENT_MS_MAX } from '../../../schemas/limits/limits.ts'
import { withOneHost } from '../../../schemas/values/postgres-url.ts'
import { keepOffLostConnections } from './lost-connections.ts'

export type Sql = postgres.Sql
/** Inside `sql.begin`. */
export type Transaction = postgres.TransactionSql
/** Where a statement may run. */
export type Queryable = Sql | Transaction

export interface StoreOptions {
  readonly url: string
  /** Connections at most. */
  readonly poolMax: number
  /** Seen in `pg_stat_activity`. */
  readonly applicationName: string
  /**
   * Milliseconds without any answer, while some are awaited, after which the connections are taken for dead.
   */
  readonly silenceMsMax?: number
  /** Of organizations that have none of their own; left out: those of a new installation. C33. */
  readonly caps?: Caps
}

/** Longer than a wait for a lock: connections that all wait for one are alive. */
const SILENCE_MS_MAX = LOCK_WAIT_MS_MAX + 1_000
const CONNECT_S_MAX = 2
/** Seconds between two tries to connect. The library's own grow to 20. */
const RECONNECT_S_MAX = 0.5

export class StoreSlow extends Error {
  constructor() {
    super('The store did not answer in time.')
  }
}

/** The connections of one process to Postgres. */
export class Store {
  readonly options: StoreOptions
  /** May be kept: it is always that of the present connections. */
  readonly sql: Sql
  #current: Sql
  #answeredAt = performance.now()
  #openedAt = performance.now()

  constructor(options: StoreOptions) {
    this.options = options
    this.#current = this.#connect()
    this.sql = presentOf(() => this.#current)
  }

  /**
   * Opens all connections of the pool, where Postgres is there: the first calls that come together need not
   * wait for them, and what they cost in memory is there from the start.
   */
  async warm(): Promise<void> {
    // An idle connection is taken first, then a new one; only when there is no other a busy one.
    await Promise.allSettled(Array.from({ length: this.options.poolMax }, () => this.#current`SELECT 1`))
  }

  /**
   * Waits at most `timeoutMs`; then rejects with StoreSlow. The statement itself ends by its own time-out in
   * the server. When nothing at all was answered for a while the connections are replaced: a path that
   * swallows packets would otherwise hold them for the quarter of an hour that TCP tries.
   */
  async within<T>(timeoutMs: number, run: (sql: Sql) => PromiseLike<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      // Behind a turn in which sockets are read: an answer that came while our own loop was blocked is not
      // late.
      timer = setTimeout(() => setImmediate(() => reject(new StoreSlow())), timeoutMs)
    })
    try {
      const answer = Promise.resolve(run(this.#current))
      this.#hearOf(answer)
      return await Promise.race([answer, late])
    } catch (problem) {
      if (problem instanceof StoreSlow) this.#replaceWhenSilent()
      throw problem
    } finally {
      clearTimeout(timer)
    }
  }

  /** Lets running statements end for up to two seconds. */
  async close(): Promise<void> {
    await this.#current.end({ timeout: 2 })
  }

  #replaceWhenSilent(): void {
    const now = performance.now()
    const { silenceMsMax = SILENCE_MS_MAX } = this.options
    if (now - this.#answeredAt < silenceMsMax || now - this.#openedAt < silenceMsMax) return
    const hung = this.#current
    this.#current = this.#connect()
    this.#openedAt = now
    void hung.end({ timeout: 0 })
  }

  /** Transactions are heard of by themselves: most of what takes long is one, and none of `within`. */
  #connect(): Sql {
    const sql = connect(this.options)
    const begin = sql.begin.bind(sql) as (...given: readonly unknown[]) => Promise<unknown>
    return Object.assign(sql, {
      begin: (...given: readonly unknown[]): Promise<unknown> => {
        const outcome = begin(...given)
        this.#hearOf(outcome)
        return outcome
      },
    })
  }

  /** However late it comes, and a refusal too: whoever answers is there. */
  #hearOf(answer: Promise<unknown>): void {
    answer.then(
      () => {
        this.#answeredAt = performance.now()
      },
      (problem: unknown) => {
        if (problem instanceof postgres.PostgresError) this.#answeredAt = performance.now()
      },
    )
  }
}

/** One client for whoever keeps it, whatever becomes of the connections behind it. */
function presentOf(current: () => Sql): Sql {
  return new Proxy(current(), {
    apply: (_, self, given: never[]): unknown =>
      Reflect.apply(current() as unknown as (...given: never[]) => unknown, self, given),
    get: (_, name): unknown => Reflect.get(current(), name),
  })
}

/**
 * A client of the library. It knows libpq's `?host=/folder` for a Unix socket, which the library would take
 * for a setting of the server.
 */
export function postgresAt(url: string, options: postgres.Options<Record<string, never>>): Sql {
  const at = new URL(withOneHost(url))
  const folder = at.searchParams.get('host')
  if (folder === null || !folder.startsWith('/')) return postgres(url, options)
  at.searchParams.delete('host')
  return postgres(at.href, { ...options, path: `${folder}/.s.PGSQL.${at.port || 5432}` })
}

/** Connects lazily: never throws when Postgres is away. */
export function openStore(options: StoreOptions): Store {
  return new Store(options)
}

function connect(options: StoreOptions): Sql {
  return keepOffLostConnections(
    postgresAt(options.url, {
      max: options.poolMax,
      connect_timeout: CONNECT_S_MAX,
      backoff: (attempts: number) => Math.min(0.05 * 2 ** attempts, RECONNECT_S_MAX),
      // Arrays are not read; without this each connection begins with a query of the catalogue.
      fetch_types: false,
      onnotice: () => {},
      connection: {
        application_name: options.applicationName,
        statement_timeout: STATEMENT_MS_MAX,
        lock_timeout: LOCK_WAIT_MS_MAX,
        // A process that stops in mid-transaction must not hold its locks.
        idle_in_transaction_session_timeout: STATEMENT_MS_MAX,
      },
    }),
  )
}
