import postgres from 'postgres'
import { LOCK_WAIT_MS_MAX, STATEMENT_MS_MAX } from '../../schemas/limits.ts'
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
}

/** Milliseconds without any answer, while some are awaited, after which the connections are taken for dead. */
const SILENCE_MS_MAX = 3_000
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
  #sql: Sql
  #answeredAt = performance.now()
  #openedAt = performance.now()

  constructor(options: StoreOptions) {
    this.options = options
    this.#sql = connect(options)
  }

  /**
   * Opens all connections of the pool, where Postgres is there: the first calls that come together need not wait for
   * them, and what they cost in memory is there from the start.
   */
  async warm(): Promise<void> {
    // An idle connection is taken first, then a new one; only when there is no other a busy one.
    await Promise.allSettled(Array.from({ length: this.options.poolMax }, () => this.#sql`SELECT 1`))
  }

  /** The current client: do not keep it, a hung one is replaced. */
  get sql(): Sql {
    return this.#sql
  }

  /**
   * Waits at most `timeoutMs`; then rejects with StoreSlow. The statement itself ends by its own time-out in the
   * server. When nothing at all was answered for a while the connections are replaced: a path that swallows packets
   * would otherwise hold them for the quarter of an hour that TCP tries.
   */
  async within<T>(timeoutMs: number, run: (sql: Sql) => PromiseLike<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new StoreSlow()), timeoutMs)
    })
    try {
      const answer = await Promise.race([run(this.#sql), late])
      this.#answeredAt = performance.now()
      return answer
    } catch (problem) {
      if (problem instanceof StoreSlow) this.#replaceWhenSilent()
      else if (problem instanceof postgres.PostgresError) this.#answeredAt = performance.now()
      throw problem
    } finally {
      clearTimeout(timer)
    }
  }

  /** Lets running statements end for up to two seconds. */
  async close(): Promise<void> {
    await this.#sql.end({ timeout: 2 })
  }

  #replaceWhenSilent(): void {
    const now = performance.now()
    if (now - this.#answeredAt < SILENCE_MS_MAX || now - this.#openedAt < SILENCE_MS_MAX) return
    const hung = this.#sql
    this.#sql = connect(this.options)
    this.#openedAt = now
    void hung.end({ timeout: 0 })
  }
}

/**
 * A client of the library. It knows libpq's `?host=/folder` for a Unix socket, which the library would take for a setting
 * of the server.
 */
export function postgresAt(url: string, options: postgres.Options<Record<string, never>>): Sql {
  const at = new URL(url)
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
  return keepOffLostConnections(postgresAt(options.url, {
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
  }))
}
