import type { Queryable } from './open.ts'

/** Columns that a guarded table has: `id`, `state text`, `attempt integer`, `lease_until timestamptz`. */
export interface GuardedTable<S extends string> {
  readonly table: string
  /** States in which work is left; a row in another one is never claimed. */
  readonly claimable: readonly S[]
}

/** A row that is ours until `attempt` changes. */
export interface Claim<S extends string> {
  readonly id: string
  /** The fencing token: whoever claims later has a higher one, and then nothing of ours is written any more. */
  readonly attempt: number
  /** State at the moment of the claim. */
  readonly state: S
}

export interface GuardedRows<S extends string> {
  /** @returns ids whose lease has run out, longest first */
  due(sql: Queryable, countMax: number): Promise<readonly string[]>
  /** @returns null when somebody else has it, it is not due yet, or no work is left */
  claim(sql: Queryable, id: string, leaseMs: number): Promise<Claim<S> | null>
  /** Prolongs the lease from now on. @returns false when the row is no longer ours */
  renew(sql: Queryable, claim: Claim<S>, leaseMs: number): Promise<boolean>
  /**
   * Moves the row on, keeping the lease.
   * @param set further columns
   * @returns the claim in its new state, or null when the row is no longer ours or not in the state of the claim
   */
  advance<T extends S>(sql: Queryable, claim: Claim<S>, to: T, set?: Columns): Promise<Claim<T> | null>
  /** Gives the row back, to be due after `dueInMs`. @returns false when it was no longer ours */
  release(sql: Queryable, claim: Claim<S>, dueInMs: number): Promise<boolean>
}

export type Columns = Readonly<Record<string, string | number | boolean | Date | null>>

/**
 * The one machine behind jobs, outbox, pending files and idempotency records: a row with a state and an attempt.
 * Time is that of Postgres, so claimers need no common clock; `clock_timestamp()`, since `now()` stands still in a
 * transaction and would make leases short. Source: design §3.
 */
export function guardedRows<S extends string>({ table, claimable }: GuardedTable<S>): GuardedRows<S> {
  const open: string[] = [...claimable]
  const ours = (sql: Queryable, claim: Claim<S>) => sql`id = ${claim.id} AND attempt = ${claim.attempt}`
  const after = (sql: Queryable, ms: number) => sql`clock_timestamp() + ${ms} * interval '1 ms'`
  const hasWork = (sql: Queryable) => sql`state IN ${sql(open)} AND lease_until < clock_timestamp()`
  return {
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
      // The attempt moves on, so that what the giver left running cannot write either.
      const { count } = await sql`
        UPDATE ${sql(table)} SET attempt = attempt + 1, lease_until = ${after(sql, dueInMs)} WHERE ${ours(sql, claim)}`
      return count === 1
    },
  }
}
