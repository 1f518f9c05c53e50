import {
  POOL_MODE,
  readPostgresUrl,
  withParameter,
  type PoolMode,
} from '../../../schemas/values/store-urls.ts'
import { CONNECT_S_MAX, postgresAt, sessionOf, StoreSlow, type Queryable, type Sql } from './open.ts'

/** Rounds in which two clients compare their server connections. Decision. */
const ROUNDS = 3
/** Milliseconds after which a client counts as waiting for the server connection of another. Decision. */
const HELD_MS_MAX = 1_000

/** Milliseconds that the whole check may take. Decision. */
const POOLER_LOOK_MS_MAX = 15_000
/** Seconds within which a connection of the check must end. */
const END_S_MAX = 1

/** The reason why Sluice must not run through this pooler, in words for the operator. */
export class PoolerRefused extends Error {}

/**
 * Finds a pooler, such as PgBouncer, between this process and Postgres: it sends its own key for cancelling,
 * whose process id differs from that of the server. A pooler refuses or forgets settings of a session, so the
 * time-outs must be settings of the role. Throws `PoolerRefused` with the required commands, and errors of
 * Postgres.
 * @returns the URL with the mode of the pooler, for every later connection
 */
export async function throughPooler(
  url: string,
  { connectSMax = CONNECT_S_MAX, msMax = POOLER_LOOK_MS_MAX } = {},
): Promise<string> {
  if (readPostgresUrl(url).pooler !== null) return url
  const opened: Sql[] = []
  const open = (connection: Readonly<Record<string, string | number>> = {}): Sql => {
    const sql = postgresAt(url, {
      max: 1,
      connect_timeout: connectSMax,
      fetch_types: false,
      prepare: false,
      onnotice: () => {},
      connection: { application_name: 'sluice-start', ...connection },
    })
    opened.push(sql)
    return sql
  }
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StoreSlow()), msMax)
  })
  try {
    const mode = await Promise.race([neededMode(open), late])
    return withParameter(url, POOL_MODE, mode)
  } finally {
    clearTimeout(timer)
    await Promise.all(opened.map((sql) => sql.end({ timeout: END_S_MAX })))
  }
}

type Open = (connection?: Readonly<Record<string, string | number>>) => Sql

/** The pooler's mode, if later connections must adapt to it; otherwise null. */
async function neededMode(open: Open): Promise<PoolMode | null> {
  const one = open()
  const { pid, keyPid } = await processOf(one)
  if (pid === keyPid) return null
  const mode = (await shareConnections(one, open())) ? 'transaction' : 'session'
  if (mode === 'session' && (await keepsSettings(() => open(sessionOf())))) return null
  const missing = await missingSettings(one)
  if (missing.length === 0) return mode
  throw new PoolerRefused(
    `DATABASE_URL points to a pooler in ${mode} mode, which does not keep connection time-outs. Set ` +
      'these time-outs on the role, then make the pooler reconnect (PgBouncer: RECONNECT): ' +
      missing.join(' '),
  )
}

/** True when one server connection serves both clients, which a pooler in session mode does not allow. */
async function shareConnections(one: Sql, two: Sql): Promise<boolean> {
  const seen = { one: new Set<number>(), two: new Set<number>() }
  for (let nth = 0; nth < ROUNDS; nth++) {
    seen.one.add((await processOf(one)).pid)
    await begin(two)
    seen.two.add((await processOf(two)).pid)
    const next = processOf(one)
    // A pool with one connection serves this client only when the other one's transaction has ended.
    await settledWithin(HELD_MS_MAX, next)
    await two`ROLLBACK`
    seen.one.add((await next).pid)
    if (seen.one.size > 1 || [...seen.two].some((pid) => seen.one.has(pid))) return true
  }
  return false
}

async function begin(sql: Queryable): Promise<void> {
  try {
    await sql`BEGIN`
  } catch (cause) {
    throw new PoolerRefused(
      'DATABASE_URL points to a pooler that refuses transactions: set its pool mode to transaction or session',
      { cause },
    )
  }
}

/** The process id of the server for a connection, and the process id in the key for cancelling. */
async function processOf(sql: Queryable): Promise<{ readonly pid: number; readonly keyPid: number }> {
  const rows = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
  return { pid: rows[0]?.pid ?? 0, keyPid: rows.state.pid }
}

/** True when the settings sent at the start of a connection reach the server. */
async function keepsSettings(open: () => Sql): Promise<boolean> {
  const missing = await missingSettings(open()).catch(() => null)
  return missing?.length === 0
}

/** Commands that set for the role what a session would set. */
async function missingSettings(sql: Sql): Promise<readonly string[]> {
  const wanted = Object.entries(sessionOf())
  const rows = await sql<{ name: string; setting: string; role: string }[]>`
    SELECT lower(name) AS name, setting, format('%I', current_user) AS role FROM pg_settings`
  const found = new Map(rows.map(({ name, setting }) => [name, setting]))
  return wanted
    .filter(([name, value]) => !suffices(found.get(name.toLowerCase()) ?? '', value))
    .map(([name, value]) => `ALTER ROLE ${rows[0]?.role ?? ''} SET ${name} = '${value}';`)
}

/** A shorter time-out suffices, and only the first word of a date style counts. */
function suffices(found: string, wanted: string | number): boolean {
  if (typeof wanted === 'string') return found.split(',')[0] === wanted
  return Number(found) > 0 && Number(found) <= wanted
}

async function settledWithin(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise((resolve) => (timer = setTimeout(resolve, ms)))
  await Promise.race([work.catch(() => undefined), limit])
  clearTimeout(timer)
}
