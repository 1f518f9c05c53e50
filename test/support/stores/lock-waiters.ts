/** Statements of a test's database that wait for a lock. */
import type { Queryable } from '../../../src/server/store/base/open.ts'
import { present } from '../must.ts'

/** @param sql a client of the database, or a transaction of it */
export async function lockWaiters(sql: Queryable): Promise<number> {
  // Within a transaction the view stands still.
  await sql`SELECT pg_stat_clear_snapshot()`
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`
  return present(row).count
}

/**
 * Resolves when so many statements wait. Asks without a rest: a statement gives up after some seconds. Ask on
 * the transaction that holds the lock, which needs no connection more.
 */
export async function untilWaiting(sql: Queryable, count = 1): Promise<void> {
  while ((await lockWaiters(sql)) < count) continue
}

/**
 * Keeps a transaction that holds a lock awake until a call has ended: Postgres ends one that rests for some
 * seconds, and on a busy machine the call takes longer.
 */
export async function heldUntil<T>(tx: Queryable, call: Promise<T>): Promise<T> {
  let isPending = true
  const ended = call.finally(() => (isPending = false))
  // What it fails with is its caller's, below.
  ended.catch(() => undefined)
  while (isPending) await tx`SELECT pg_sleep(0.1)`
  return ended
}
