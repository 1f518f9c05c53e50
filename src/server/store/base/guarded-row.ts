import type postgres from 'postgres'
import type { JsonColumn, Queryable } from './open.ts'

/** A guarded table; it has the columns: `id`, `state text`, `attempt integer`, `lease_until timestamptz`. */
export interface GuardedTable<S extends string> {
  readonly table: string
  /** States in which work remains; a row in another state is never claimed. */
  readonly claimable: readonly S[]
  /** A state whose leases start at the time in this column if that time is in the future. */
  readonly busyUntil?: { readonly state: S; readonly column: string }
  /** Columns of returned rows, with the table as `t`; left out: all columns. */
  readonly whole?: string
  /** An integer column that is set to the claim's `kept` when claims are renewed or released together. */
  readonly kept?: string
}

/** A row that this process holds until `attempt` changes. */
export interface Claim<S extends string> {
  readonly id: string
  /** The fencing token: a later claim has a higher one, after which no write with this claim succeeds. */
  readonly attempt: number
  /** The state at the moment of the claim. */
  readonly state: S
}

export interface GuardedRows<S extends string> extends GuardedBatches<S> {
  /** @returns ids of rows whose lease has expired, the longest expired first */
  due(sql: Queryable, countMax: number): Promise<readonly string[]>
  /** @returns null when another process has the row, the row is not due yet, or no work remains */
  claim(sql: Queryable, id: string, leaseMs: number): Promise<Claim<S> | null>
  /** Renews the lease; it lasts from now. @returns false when another process has the row */
  renew(sql: Queryable, claim: Claim<S>, leaseMs: number): Promise<boolean>
  /**
   * Changes the state of the row, and keeps the lease.
   * @param set further columns
   * @returns the claim in its new state, or null when another process has the row, or the row is not in the
   * state of the claim
   */
  advance<T extends S>(sql: Queryable, claim: Claim<S>, to: T, set?: Columns): Promise<Claim<T> | null>
  /** Releases the row; it is due after `dueInMs`. @returns false when another process already had the row */
  release(sql: Queryable, claim: Claim<S>, dueInMs: number): Promise<boolean>
}

/** The same operations for many rows at once, and with rows as results. In their tables the id column is `text`. */
export interface GuardedBatches<S extends string> {
  /** A condition for rows with work that an index on the claimable states can serve. */
  hasWork(sql: Queryable): Fragment
  /**
   * Claims the due rows among the ids that `chosen` selects; that query has locked them. @returns the rows,
   * and the current time as `read_at`
   */
  claimAll<R extends object>(sql: Queryable, chosen: Fragment, leaseMs: number): Promise<readonly R[]>
  /**
   * Rows are locked in the order of their ids, as in all statements that lock several. @returns ids of rows
   * that another process has
   */
  renewAll(sql: Queryable, claims: readonly Counted[], leaseMs: number): Promise<readonly string[]>
  releaseAll(sql: Queryable, claims: readonly Counted[], dueInMs: number): Promise<void>
  /** @param set `column = …, …` @returns as `claimAll`, or null as `advance` */
  step<R extends object>(sql: Queryable, claim: Claim<S>, to: S, set: Fragment): Promise<R | null>
}

/** The fields that identify a claim. */
export type Held = Pick<Claim<string>, 'id' | 'attempt'>
/** A claim with the latest value of the column that the table keeps. */
export type Counted = Held & { readonly kept?: number }
/** A part of a statement. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

export type Columns = Readonly<Record<string, string | number | boolean | Date | JsonColumn | null>>

/**
 * The state machine of jobs, outbox, pending files and idempotency records: a row with a state and an attempt.
 * All times are by the clock of Postgres, so that claiming processes need no common clock. `clock_timestamp()`
 * is used because `now()` does not advance within a transaction and would make leases too short. Source:
 * design §3.
 */
export function guardedRows<S extends string>(guarded: GuardedTable<S>): GuardedRows<S> {
  const { table } = guarded
  const { hasWork } = batchesOf(guarded)
  return {
    ...batchesOf(guarded),
    async due(sql, countMax) {
      const rows = await sql<{ id: string }[]>`
        SELECT id FROM ${sql(table)} WHERE ${hasWork(sql)} ORDER BY lease_until LIMIT ${countMax}`
      return rows.map((row) => row.id)
    },
    async claim(sql, id, leaseMs) {
      const [row] = await sql<{ attempt: number; state: S }[]>`
        UPDATE ${sql(table)} SET attempt = attempt + 1, lease_until = ${after(sql, leaseMs)}
        WHERE id = ${id} AND ${hasWork(sql)} RETURNING attempt, state`
      return row === undefined ? null : { id, attempt: row.attempt, state: row.state }
    },
    async renew(sql, claim, leaseMs) {
      const { count } = await sql`
        UPDATE ${sql(table)} SET lease_until = ${after(sql, leaseMs)} WHERE ${ours(sql, claim)}`
      return count === 1
    },
    async advance(sql, claim, to, set = {}) {
      const { count } = await sql`
        UPDATE ${sql(table)} SET ${sql({ ...set, state: to })} WHERE ${ours(sql, claim)} AND state = ${claim.state}`
      return count === 1 ? { ...claim, state: to } : null
    },
    async release(sql, claim, dueInMs) {
      // The attempt increases, so that work that the previous holder still runs cannot write any more.
      const { count } = await sql`
        UPDATE ${sql(table)} SET attempt = attempt + 1, lease_until = ${after(sql, dueInMs)} WHERE ${ours(sql, claim)}`
      return count === 1
    },
  }
}

function batchesOf<S extends string>({
  table,
  claimable,
  busyUntil,
  whole = 't.*',
  kept,
}: GuardedTable<S>): GuardedBatches<S> {
  // The states are literals: a prepared statement with parameters might not use an index that is limited to
  // these states.
  const open = claimable.map((state) => `'${state}'`).join(', ')
  const isOpen = (sql: Queryable) => sql`state IN (${sql.unsafe(open)})`
  const leaseEnd = (sql: Queryable, ms: number) =>
    busyUntil === undefined
      ? after(sql, ms)
      : sql`CASE
    WHEN state = ${busyUntil.state} THEN greatest(clock_timestamp(), ${sql(busyUntil.column)}) + ${ms} * interval '1 ms' ELSE ${after(sql, ms)} END`
  const keeping = (sql: Queryable) =>
    kept === undefined ? sql`` : sql`, ${sql(kept)} = COALESCE(held.kept, t.${sql(kept)})`
  /** `held`: rows of the claims that this process still holds. */
  const heldOf = (sql: Queryable, claims: readonly Counted[]) => sql`
    x AS MATERIALIZED (SELECT * FROM json_to_recordset(${jsonOf(claims)}::text::json)
      AS x(id text, attempt integer, kept integer)),
    held AS MATERIALIZED (
      SELECT t.id, x.kept FROM ${sql(table)} t JOIN x ON x.id = t.id AND x.attempt = t.attempt WHERE ${isOpen(sql)} ORDER BY t.id FOR UPDATE OF t)`
  return {
    // In a subquery the clock is read only once, so the comparison can use an index.
    hasWork: (sql) => sql`${isOpen(sql)} AND lease_until < (SELECT clock_timestamp())`,
    async claimAll<R extends object>(sql: Queryable, chosen: Fragment, leaseMs: number) {
      const rows = await sql<Returned[]>`
        WITH held AS MATERIALIZED (${chosen})
        UPDATE ${sql(table)} AS t SET attempt = attempt + 1, lease_until = ${leaseEnd(sql, leaseMs)} FROM held WHERE t.id = held.id
        RETURNING ${sql.unsafe(whole)}, clock_timestamp() AS read_at`
      return rows as unknown as readonly R[]
    },
    async renewAll(sql, claims, leaseMs) {
      if (claims.length === 0) return []
      const rows = await sql<{ id: string }[]>`
        WITH ${heldOf(sql, claims)},
        renewed AS (
          UPDATE ${sql(table)} AS t SET lease_until = ${leaseEnd(sql, leaseMs)} ${keeping(sql)} FROM held WHERE t.id = held.id)
        SELECT x.id FROM x LEFT JOIN held ON held.id = x.id WHERE held.id IS NULL`
      return rows.map(({ id }) => id)
    },
    async releaseAll(sql, claims, dueInMs) {
      if (claims.length === 0) return
      await sql`
        WITH ${heldOf(sql, claims)}
        UPDATE ${sql(table)} AS t SET attempt = attempt + 1, lease_until = ${leaseEnd(sql, dueInMs)} ${keeping(sql)} FROM held WHERE t.id = held.id`
    },
    async step<R extends object>(sql: Queryable, claim: Claim<S>, to: S, set: Fragment) {
      const rows = await sql<Returned[]>`
        UPDATE ${sql(table)} AS t SET ${set}, state = ${to} WHERE ${ours(sql, claim)} AND state = ${claim.state}
        RETURNING ${sql.unsafe(whole)}, clock_timestamp() AS read_at`
      return (rows[0] ?? null) as R | null
    },
  }
}

type Returned = Readonly<Record<string, unknown>>

function jsonOf(claims: readonly Counted[]): string {
  return JSON.stringify(claims.map(({ id, attempt, kept }) => ({ id, attempt, kept })))
}

function ours(sql: Queryable, claim: Held): Fragment {
  return sql`id = ${claim.id} AND attempt = ${claim.attempt}`
}

function after(sql: Queryable, ms: number): Fragment {
  return sql`clock_timestamp() + ${ms} * interval '1 ms'`
}
