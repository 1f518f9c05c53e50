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

/** Milliseconds that the whole look may take. Decision. */
const POOLER_LOOK_MS_MAX = 15_000
/** Seconds that a connection of the look has to end. */
const END_S_MAX = 1

/** The reason why Sluice must not run through this pooler, in words for the operator. */
export class PoolerRefused extends Error {}

/**
 * Finds a pooler, such as PgBouncer, between this process and Postgres: it sends a key for cancelling of its
 * own, whose process is not that of the server. A pooler refuses or forgets settings of a session, so the
 * time-outs must stand at the role. Throws `PoolerRefused` with the commands, and errors of Postgres.
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

/** The mode that later connections need to know; null: none. */
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

/** True when a server connection serves both clients, as that of a session may not. */
async function shareConnections(one: Sql, two: Sql): Promise<boolean> {
  const seen = { one: new Set<number>(), two: new Set<number>() }
  for (let nth = 0; nth < ROUNDS; nth++) {
    seen.one.add((await processOf(one)).pid)
    await begin(two)
    seen.two.add((await processOf(two)).pid)
    const next = processOf(one)
    // A pool of one connection serves this client when the other one's transaction ends.
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

/** The server's process of a connection, and the one that the key for cancelling names. */
async function processOf(sql: Queryable): Promise<{ readonly pid: number; readonly keyPid: number }> {
  const rows = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
  return { pid: rows[0]?.pid ?? 0, keyPid: rows.state.pid }
}

/** True when the settings that a connection begins with reach the server. */
async function keepsSettings(open: () => Sql): Promise<boolean> {
  const missing = await missingSettings(open()).catch(() => null)
  return missing?.length === 0
}

/** Commands that give the role what a session would set. */
async function missingSettings(sql: Sql): Promise<readonly string[]> {
  const wanted = Object.entries(sessionOf())
  const rows = await sql<{ name: string; setting: string; role: string }[]>`
    SELECT lower(name) AS name, setting, format('%I', current_user) AS role FROM pg_settings`
  const found = new Map(rows.map(({ name, setting }) => [name, setting]))
  return wanted
    .filter(([name, value]) => !suffices(found.get(name.toLowerCase()) ?? '', value))
    .map(([name, value]) => `ALTER ROLE ${rows[0]?.role ?? ''} SET ${name} = '${value}';`)
}

/** A shorter time-out suffices, and of a date style its first word counts. */
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
