import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import postgres from 'postgres'
import type { Caps } from '../../../schemas/operator/caps.ts'
import { LOCK_WAIT_MS_MAX, STATEMENT_MS_MAX } from '../../../schemas/limits/limits.ts'
import { readPostgresUrl, type PostgresAddress } from '../../../schemas/values/store-urls.ts'
import { HostChoice, type HostState } from './host-choice.ts'
import { AnswerClock } from './answer-clock.ts'
import { keepOffLostConnections, type Listener } from './lost-connections.ts'

export type Sql = postgres.Sql
/** A client inside of `sql.begin`. */
export type Transaction = postgres.TransactionSql
export type JsonColumn = ReturnType<Transaction['json']>
/** A client that runs statements: a pool or a transaction. */
export type Queryable = Sql | Transaction

export interface StoreOptions {
  readonly url: string
  readonly poolMax: number
  /** Name of the connections in `pg_stat_activity`. */
  readonly applicationName: string
  /** Milliseconds without any answer to pending statements after which the connections count as dead. */
  readonly silenceMsMax?: number
  /** Milliseconds without statements after which a connection is closed. */
  readonly idleMsMax?: number
  /** Milliseconds that a statement may wait for a lock. */
  readonly lockMsMax?: number
  /** Seconds that an attempt to connect may take. */
  readonly connectSMax?: number
  /** Caps for organizations that have none of their own; left out: those of a new installation. */
  readonly caps?: Caps
}

/** Milliseconds; longer than a wait for a lock, since connections may all wait for a lock without being dead. */
const SILENCE_MS_MAX = LOCK_WAIT_MS_MAX + 1_000
/** Milliseconds for the answer to a check whether connections are silent. Decision. */
const LOOK_MS_MAX = 1_000
/**
 * Milliseconds without statements after which a connection is closed: each is a process of Postgres that takes
 * several megabytes. Decision.
 */
const IDLE_MS_MAX = 60_000
/** Milliseconds between two replacements of read-only connections. Decision. */
const READ_ONLY_REPLACE_MS = 1_000
/** Seconds that an attempt to connect may take. */
export const CONNECT_S_MAX = 2
/** Seconds between two attempts to connect; the library's own pause grows to 20. */
const RECONNECT_S_MAX = 0.5

export class StoreSlow extends Error {
  constructor() {
    super('The store did not answer in time.')
  }
}

class StoreReadOnly extends Error {
  constructor() {
    super('Postgres is read-only.')
  }
}

/** True when a session may not write: its server is a standby, or the session began with that setting. */
export async function isReadOnly(sql: Queryable): Promise<boolean> {
  const [row] = await sql<{ isReadOnly: boolean }[]>`
    SELECT current_setting('transaction_read_only')::bool AS "isReadOnly"`
  return row?.isReadOnly !== false
}

interface Client {
  readonly sql: Sql
  readonly clock: AnswerClock
}

/** The connections of one process to Postgres. */
export class Store {
  readonly options: StoreOptions
  /** The client of the current connections; callers may keep it. */
  readonly sql: Sql
  #client: Client
  #replacedAt = -Infinity
  #looking: NodeJS.Timeout | null = null

  constructor(options: StoreOptions) {
    this.options = options
    this.#client = this.#connect()
    this.sql = presentOf(() => this.#client.sql)
  }

  /**
   * Opens all connections of the pool, if Postgres is reachable: the first concurrent calls do not wait for
   * connections.
   */
  async warm(): Promise<void> {
    // The library first uses an idle connection, then a new one, and a busy one only when there is no other, so
    // these statements open all connections.
    await Promise.allSettled(Array.from({ length: this.options.poolMax }, () => this.#client.sql`SELECT 1`))
  }

  /**
   * Waits at most `timeoutMs`; then rejects with StoreSlow. The statement itself ends by its own timeout in
   * the server. After some time without answers the connections are replaced: otherwise a network path that
   * drops packets would block them for a quarter of an hour, until TCP gives up. An idle store does not count
   * as silent.
   */
  async within<T>(timeoutMs: number, run: (sql: Sql) => PromiseLike<T>): Promise<T> {
    try {
      return await bounded(timeoutMs, run(this.#client.sql))
    } catch (problem) {
      if (problem instanceof StoreSlow) this.#replaceWhenSilent()
      throw problem
    }
  }

  /**
   * Its time is limited only by the timeouts of its statements. Meanwhile the store checks whether its
   * connections are silent, in case no call of `within` checks them.
   */
  async watched<T>(run: (sql: Sql) => PromiseLike<T>): Promise<T> {
    const { silenceMsMax = SILENCE_MS_MAX } = this.options
    const look = (): void => void this.within(LOOK_MS_MAX, (sql) => sql`SELECT 1`).catch(() => undefined)
    const looking = setInterval(look, silenceMsMax).unref()
    try {
      return await run(this.sql)
    } finally {
      clearInterval(looking)
    }
  }

  /** Rejects when Postgres is read-only, or does not answer within `timeoutMs`, with the reason. */
  async checkWritable(timeoutMs: number): Promise<void> {
    if (!(await this.within(timeoutMs, isReadOnly))) return
    this.#replaceReadOnly()
    throw new StoreReadOnly()
  }

  /** Gives running statements up to two seconds to end. */
  async close(): Promise<void> {
    if (this.#looking !== null) clearTimeout(this.#looking)
    await this.#client.sql.end({ timeout: 2 })
  }

  #replaceWhenSilent(): void {
    if (this.#silentMs >= this.#silenceMsMax) this.#replace(0)
  }

  /**
   * Statements without `within` wait for a host that no longer answers. If there may be another host,
   * statements that have waited too long are given up, unless a new connection gets an answer.
   */
  #lookAgain(): void {
    this.#looking ??= setTimeout(() => {
      this.#looking = null
      if (!this.#client.clock.isAwaiting) return
      this.#lookAgain()
      if (this.#silentMs < this.#silenceMsMax - LOOK_MS_MAX) return
      void this.#isAnswered().then((isAnswered) => isAnswered || this.#replaceWhenSilent())
    }, LOOK_MS_MAX).unref()
  }

  async #isAnswered(): Promise<boolean> {
    const probe = connect({ ...this.options, poolMax: 1 })
    try {
      await bounded(LOOK_MS_MAX, probe`SELECT 1`)
      return true
    } catch (problem) {
      return problem instanceof postgres.PostgresError
    } finally {
      void probe.end({ timeout: 0 })
    }
  }

  get #silentMs(): number {
    return this.#client.clock.silentMs
  }

  get #silenceMsMax(): number {
    return this.options.silenceMsMax ?? SILENCE_MS_MAX
  }

  /**
   * A session that began on a read-only server or database stays read-only, while new ones may write: after a
   * failover the name may still resolve to the old primary for a moment.
   */
  #replaceReadOnly(): void {
    if (performance.now() - this.#replacedAt < READ_ONLY_REPLACE_MS) return
    this.#replacedAt = performance.now()
    this.#replace(STATEMENT_MS_MAX / 1_000)
  }

  /** @param endS seconds for running statements of the old connections to end */
  #replace(endS: number): void {
    const old = this.#client.sql
    this.#client = this.#connect()
    void old.end({ timeout: endS })
  }

  #connect(): Client {
    const hasMoreHosts = readPostgresUrl(this.options.url).hosts.length > 1
    const clock = new AnswerClock({
      onReadOnly: () => {
        if (clock === this.#client.clock) this.#replaceReadOnly()
      },
      onAwaited: () => {
        if (hasMoreHosts) this.#lookAgain()
      },
    })
    return { sql: connect(this.options, clock), clock }
  }
}

/** Rejects with StoreSlow when the answer takes longer than `timeoutMs`. */
async function bounded<T>(timeoutMs: number, answer: PromiseLike<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    // Rejects only after sockets have been read once more: an answer that arrived while the event loop of this
    // process was blocked is not late.
    timer = setTimeout(() => setImmediate(() => reject(new StoreSlow())), timeoutMs)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

/** A client that the caller can keep even when the connections are replaced. */
function presentOf(current: () => Sql): Sql {
  return new Proxy(current(), {
    apply: (_, self, given: never[]): unknown =>
      Reflect.apply(current() as unknown as (...given: never[]) => unknown, self, given),
    get: (_, name): unknown => Reflect.get(current(), name),
  })
}

/**
 * A client of the library (3.4.9) for a URL with the syntax of libpq. The library alone would treat
 * `?host=/folder` and certificate files as server settings, and would cut IPv6 addresses at their first colon.
 * Throws when a certificate file cannot be read.
 */
export function postgresAt(url: string, options: postgres.Options<Record<string, never>>): Sql {
  const address = readPostgresUrl(url)
  const { hosts, ports, folder, targetSession } = address
  const place =
    folder === null ? { host: hosts, port: ports } : { path: `${folder}/.s.PGSQL.${ports[0] ?? ''}` }
  const given = { ...options, ...place, ...tlsOf(address) }
  // The library's types allow only one host, and neither a socket nor certificate files.
  const open = (more: object): Sql =>
    postgres(address.href, { ...given, ...more } as postgres.Options<Record<string, never>>)
  if (folder !== null || (hosts.length === 1 && targetSession === null)) return open({})
  const choice = new HostChoice(
    hosts.map((host, nth) => ({ host, port: ports[nth] ?? 0 })),
    targetSession,
    ({ host, port }) => stateOf(open({ host: [host], port: [port], max: 1 })),
  )
  // With a single host name the library reports a failure instead of trying the next host.
  const sql = open({
    host: [hosts.join()],
    port: [ports.join()],
    socket: () => choice.socket(),
    // A host may become a standby between the choice and the login: the library then refuses the statement.
    ...(targetSession === 'primary' || targetSession === 'read-write'
      ? { target_session_attrs: 'primary' }
      : {}),
    onparameter: (name: string, value: string) => {
      if (name === 'in_hot_standby' && value === 'on') choice.forget()
    },
  })
  const end = sql.end.bind(sql)
  return Object.assign(sql, {
    end: (...given: Parameters<Sql['end']>) => end(...given).finally(() => choice.end()),
  })
}

/** Queries the state of a host on a separate connection. */
async function stateOf(sql: Sql): Promise<HostState> {
  try {
    const [row] = await sql<HostState[]>`
      SELECT pg_is_in_recovery() AS "isStandby", current_setting('default_transaction_read_only')::bool AS "isReadOnly"`
    return { isStandby: row?.isStandby !== false, isReadOnly: row?.isReadOnly !== false }
  } finally {
    await sql.end({ timeout: 0 })
  }
}

/** `sslmode` with the files of `sslrootcert`, `sslcert` and `sslkey`; empty when the URL has none of these. */
function tlsOf({ sslMode, rootCertificates, certificate, privateKey }: PostgresAddress) {
  if (sslMode === null && rootCertificates === null) return {}
  if (sslMode === 'disable' || sslMode === null) return { ssl: false }
  const isSystem = rootCertificates === 'system'
  const isVerified = sslMode.startsWith('verify-') || rootCertificates !== null
  // The library falls back to plain text only for the value `prefer`.
  if (!isVerified && certificate === null) return { ssl: sslMode as 'prefer' }
  return {
    ssl: {
      rejectUnauthorized: isVerified,
      ...(rootCertificates === null || isSystem ? {} : { ca: readFileSync(rootCertificates) }),
      ...(certificate === null ? {} : { cert: readFileSync(certificate) }),
      ...(privateKey === null ? {} : { key: readFileSync(privateKey) }),
      // As in libpq, `require` with a file and `verify-ca` check the issuer of the certificate but not the host name.
      checkServerIdentity: isSystem || sslMode === 'verify-full' ? checkHost : () => undefined,
    },
  }
}

/**
 * For a host that is an IP address the library passes no name to TLS, and Node then compares the certificate
 * with `localhost`. Node calls this function on the options of the connection, which contain its socket.
 */
function checkHost(
  this: { readonly servername?: string; readonly socket?: Pick<Socket, 'remoteAddress'> },
  host: string,
  certificate: PeerCertificate,
): Error | undefined {
  return checkServerIdentity(this.servername ?? this.socket?.remoteAddress ?? host, certificate)
}

/** Connects lazily: does not throw when Postgres is unreachable. */
export function openStore(options: StoreOptions): Store {
  return new Store(options)
}

function connect(options: StoreOptions, listener?: Listener): Sql {
  const { pooler } = readPostgresUrl(options.url)
  return keepOffLostConnections(
    postgresAt(options.url, {
      // Through such a pooler the next transaction may run on a server connection that does not have the prepared statement.
      prepare: pooler !== 'transaction',
      max: options.poolMax,
      connect_timeout: options.connectSMax ?? CONNECT_S_MAX,
      idle_timeout: (options.idleMsMax ?? IDLE_MS_MAX) / 1_000,
      backoff: (attempts: number) => Math.min(0.05 * 2 ** attempts, RECONNECT_S_MAX),
      // Sluice reads no arrays; without this each connection begins with a query of the catalog.
      fetch_types: false,
      onnotice: () => {},
      connection: {
        application_name: options.applicationName,
        ...(pooler === null ? sessionOf(options) : {}),
      },
    }),
    listener,
  )
}

/** Settings of a session; behind a pooler they must be settings of the role instead. */
export function sessionOf({ lockMsMax = LOCK_WAIT_MS_MAX }: Pick<StoreOptions, 'lockMsMax'> = {}) {
  return {
    statement_timeout: STATEMENT_MS_MAX,
    lock_timeout: lockMsMax,
    // A process that stops within a transaction must not hold its locks.
    idle_in_transaction_session_timeout: STATEMENT_MS_MAX,
    // A database or role may have other values, which the library misreads.
    DateStyle: 'ISO',
    standard_conforming_strings: 'on',
    bytea_output: 'hex',
  }
}
