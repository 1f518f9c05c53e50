import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import postgres from 'postgres'
import type { Caps } from '../../../schemas/operator/caps.ts'
import { LOCK_WAIT_MS_MAX, STATEMENT_MS_MAX } from '../../../schemas/limits/limits.ts'
import { readPostgresUrl, type PostgresAddress } from '../../../schemas/values/store-urls.ts'
import { HostChoice, type HostState } from './host-choice.ts'
import { keepOffLostConnections, type Note } from './lost-connections.ts'

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
  /** Milliseconds without any answer, while some are awaited, after which the connections count as dead. */
  readonly silenceMsMax?: number
  /** Milliseconds without statements after which a connection is closed. */
  readonly idleMsMax?: number
  /** Milliseconds that a statement may wait for a lock. */
  readonly lockMsMax?: number
  /** Seconds that a try to connect may take. */
  readonly connectSMax?: number
  /** Caps of organizations without own caps; left out: those of a new installation. */
  readonly caps?: Caps
}

/** Milliseconds, longer than a wait for a lock: connections that all wait for a lock are alive. */
const SILENCE_MS_MAX = LOCK_WAIT_MS_MAX + 1_000
/** Milliseconds for the answer to a look whether connections are silent. Decision. */
const LOOK_MS_MAX = 1_000
/**
 * Milliseconds without statements after which a connection is closed: each is a process of Postgres, with
 * some megabytes. Decision.
 */
const IDLE_MS_MAX = 60_000
/** Milliseconds between two replacements of read-only connections. Decision. */
const READ_ONLY_REPLACE_MS = 1_000
/** SQLSTATE of a write that a read-only session refuses. */
const READ_ONLY = '25006'
/** Seconds that a try to connect may take. */
export const CONNECT_S_MAX = 2
/** Seconds between two tries to connect; the library's own pause grows to 20. */
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

/** True when a session may not write: its server is a standby, or it began with that setting. */
export async function isReadOnly(sql: Queryable): Promise<boolean> {
  const [row] = await sql<{ isReadOnly: boolean }[]>`
    SELECT current_setting('transaction_read_only')::bool AS "isReadOnly"`
  return row?.isReadOnly !== false
}

interface Client {
  readonly sql: Sql
  /** When the first statement after the last answer was made; null: none was. Monotonic milliseconds. */
  owesSince: number | null
}

/** The connections of one process to Postgres. */
export class Store {
  readonly options: StoreOptions
  /** The client of the present connections; it may be kept. */
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
   * Opens all connections of the pool, if Postgres is reachable: the first calls that come together do not
   * wait for connections.
   */
  async warm(): Promise<void> {
    // The library takes an idle connection first, then a new one, and a busy one only when there is no other.
    await Promise.allSettled(Array.from({ length: this.options.poolMax }, () => this.#client.sql`SELECT 1`))
  }

  /**
   * Waits at most `timeoutMs`; then rejects with StoreSlow. The statement itself ends by its own timeout in
   * the server. When no answer came for a while the connections are replaced: a network path that drops
   * packets would otherwise hold them for the quarter of an hour that TCP tries. An idle store is not silent.
   */
  async within<T>(timeoutMs: number, run: (sql: Sql) => PromiseLike<T>): Promise<T> {
    try {
      return await bounded(timeoutMs, run(this.#client.sql))
    } catch (problem) {
      if (problem instanceof StoreSlow) this.#replaceWhenSilent()
      throw problem
    }
  }

  /** Bounded by its statements alone. Meanwhile the store looks whether its connections are silent, for those that nothing asks by `within`. */
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
   * Statements without `within` wait for a host that no longer answers. Where another host may take its place,
   * those that are awaited for too long are given up, unless a new connection is answered.
   */
  #lookAgain(): void {
    this.#looking ??= setTimeout(() => {
      this.#looking = null
      if (this.#client.owesSince === null) return
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
    const { owesSince } = this.#client
    return owesSince === null ? 0 : performance.now() - owesSince
  }

  get #silenceMsMax(): number {
    return this.options.silenceMsMax ?? SILENCE_MS_MAX
  }

  /**
   * A session that began on a read-only server or database stays read-only, while new ones may write: after a
   * failover, the name may lead to the old primary for a moment.
   */
  #replaceReadOnly(): void {
    if (performance.now() - this.#replacedAt < READ_ONLY_REPLACE_MS) return
    this.#replacedAt = performance.now()
    this.#replace(STATEMENT_MS_MAX / 1_000)
  }

  /** @param endS seconds that running statements of the old connections have */
  #replace(endS: number): void {
    const old = this.#client.sql
    this.#client = this.#connect()
    void old.end({ timeout: endS })
  }

  #connect(): Client {
    const hasMoreHosts = readPostgresUrl(this.options.url).hosts.length > 1
    // Any answer counts, however late, and a refusal too: the server that answers is reachable.
    const answered = (): void => void (client.owesSince = null)
    const refused = (problem: unknown): void => {
      if (!(problem instanceof postgres.PostgresError)) return
      answered()
      if (problem.code === READ_ONLY && client === this.#client) this.#replaceReadOnly()
    }
    const note: Note = (statement) => {
      client.owesSince ??= performance.now()
      if (hasMoreHosts) this.#lookAgain()
      // The library's own `then` would send a statement that is part of another one.
      void Promise.prototype.then.call(statement, answered, refused)
    }
    const client: Client = { sql: connect(this.options, note), owesSince: null }
    return client
  }
}

/** Rejects with StoreSlow when the answer takes longer than `timeoutMs`. */
async function bounded<T>(timeoutMs: number, answer: PromiseLike<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    // Rejects after a tick in which sockets are read: an answer that came while this process' event loop
    // was blocked is not late.
    timer = setTimeout(() => setImmediate(() => reject(new StoreSlow())), timeoutMs)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

/** One client for the caller to keep, whatever happens to its connections. */
function presentOf(current: () => Sql): Sql {
  return new Proxy(current(), {
    apply: (_, self, given: never[]): unknown =>
      Reflect.apply(current() as unknown as (...given: never[]) => unknown, self, given),
    get: (_, name): unknown => Reflect.get(current(), name),
  })
}

/**
 * A client of the library (3.4.9) for a URL as libpq reads it. By itself the library takes `?host=/folder` and
 * files of certificates for settings of the server, and cuts IPv6 addresses at their first colon. Throws when a
 * file of certificates cannot be read.
 */
export function postgresAt(url: string, options: postgres.Options<Record<string, never>>): Sql {
  const address = readPostgresUrl(url)
  const { hosts, ports, folder, targetSession } = address
  const place =
    folder === null ? { host: hosts, port: ports } : { path: `${folder}/.s.PGSQL.${ports[0] ?? ''}` }
  const given = { ...options, ...place, ...tlsOf(address) }
  // Its types have one host, no socket, and no file of certificates.
  const open = (more: object): Sql =>
    postgres(address.href, { ...given, ...more } as postgres.Options<Record<string, never>>)
  if (folder !== null || (hosts.length === 1 && targetSession === null)) return open({})
  const choice = new HostChoice(
    hosts.map((host, nth) => ({ host, port: ports[nth] ?? 0 })),
    targetSession,
    ({ host, port }) => stateOf(open({ host: [host], port: [port], max: 1 })),
  )
  // With one name the library reports a failure, instead of trying the next.
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

/** Asks a host on a connection of its own. */
async function stateOf(sql: Sql): Promise<HostState> {
  try {
    const [row] = await sql<HostState[]>`
      SELECT pg_is_in_recovery() AS "isStandby", current_setting('default_transaction_read_only')::bool AS "isReadOnly"`
    return { isStandby: row?.isStandby !== false, isReadOnly: row?.isReadOnly !== false }
  } finally {
    await sql.end({ timeout: 0 })
  }
}

/** `sslmode` with the files of `sslrootcert`, `sslcert` and `sslkey`; nothing where the URL has none of them. */
function tlsOf({ sslMode, rootCertificates, certificate, privateKey }: PostgresAddress) {
  if (sslMode === null && rootCertificates === null) return {}
  if (sslMode === 'disable' || sslMode === null) return { ssl: false }
  const isSystem = rootCertificates === 'system'
  const isVerified = sslMode.startsWith('verify-') || rootCertificates !== null
  // The library falls back to plain text for the name `prefer` alone.
  if (!isVerified && certificate === null) return { ssl: sslMode as 'prefer' }
  return {
    ssl: {
      rejectUnauthorized: isVerified,
      ...(rootCertificates === null || isSystem ? {} : { ca: readFileSync(rootCertificates) }),
      ...(certificate === null ? {} : { cert: readFileSync(certificate) }),
      ...(privateKey === null ? {} : { key: readFileSync(privateKey) }),
      // As in libpq, `require` with a file and `verify-ca` check who signed, and not which host.
      checkServerIdentity: isSystem || sslMode === 'verify-full' ? checkHost : () => undefined,
    },
  }
}

/**
 * The library gives TLS no name for a host that is an IP address, and Node then compares the certificate with
 * `localhost`. Node calls this on the options of the connection, which have its socket.
 */
function checkHost(
  this: { readonly servername?: string; readonly socket?: Pick<Socket, 'remoteAddress'> },
  host: string,
  certificate: PeerCertificate,
): Error | undefined {
  return checkServerIdentity(this.servername ?? this.socket?.remoteAddress ?? host, certificate)
}

/** Connects lazily: never throws when Postgres is away. */
export function openStore(options: StoreOptions): Store {
  return new Store(options)
}

function connect(options: StoreOptions, note?: Note): Sql {
  const { pooler } = readPostgresUrl(options.url)
  return keepOffLostConnections(
    postgresAt(options.url, {
      // The next transaction may run on a server connection that does not know the statement.
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
    note,
  )
}

/** Settings of a session; those of a pooler's connections stand at the role. */
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
