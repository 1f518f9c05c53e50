import { FRONT_LIVE_MS } from '../../../schemas/limits/limits.ts'
import type { Queryable } from './open.ts'

export interface ConnectionBudget {
  /** Connections that Postgres allows to users without privileges. */
  readonly available: number
  /** What sets that bound. */
  readonly by: 'max_connections' | 'role' | 'database'
  /** Most connections that this node may open. */
  readonly wanted: number
  /** Connections that other nodes with live fronts may hold in total. */
  readonly elsewhere: number
  readonly fits: boolean
}

/**
 * Compares the connections that this node and the others may hold with the number that Postgres allows. Design
 * §2.
 * @param wanted all connections that this node may hold at once, in any process
 */
export async function connectionBudget(
  sql: Queryable,
  node: string,
  wanted: number,
): Promise<ConnectionBudget> {
  const { available, by } = await connectionLimit(sql)
  const [others] = await sql<{ sum: number }[]>`
    SELECT coalesce(sum(of_node), 0)::int AS sum FROM (
      SELECT max(connections) AS of_node FROM fronts
      WHERE node <> ${node} AND heartbeat_at > clock_timestamp() - ${FRONT_LIVE_MS} * interval '1 ms'
      GROUP BY node) AS others`
  const elsewhere = others?.sum ?? 0
  return { available, by, wanted, elsewhere, fits: wanted + elsewhere <= available }
}

/** The number of connections that Postgres allows for this role in this database, and which setting limits it. */
export async function connectionLimit(sql: Queryable): Promise<Pick<ConnectionBudget, 'available' | 'by'>> {
  // -1 means no limit; limits of a role do not apply to a superuser.
  const [limit] = await sql<Pick<ConnectionBudget, 'available' | 'by'>[]>`
    SELECT available, by FROM (VALUES
      (current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true), '0')::int, 'max_connections'),
      ((SELECT CASE WHEN rolsuper THEN -1 ELSE rolconnlimit END FROM pg_roles WHERE rolname = current_user), 'role'),
      ((SELECT datconnlimit FROM pg_database WHERE datname = current_database()), 'database')
    ) AS limits (available, by) WHERE available >= 0 ORDER BY available LIMIT 1`
  return limit ?? { available: 0, by: 'max_connections' }
}

/** The connections that currently count against a limit, including those of other programs. */
export async function connectionsUsed(sql: Queryable, by: ConnectionBudget['by']): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE usesysid IS NOT NULL AND datid IS NOT NULL
      AND (${by} <> 'role' OR usename = current_user) AND (${by} <> 'database' OR datname = current_database())`
  return row?.count ?? 0
}
