import { FRONT_LIVE_MS } from '../../../schemas/limits/limits.ts'
import type { Queryable } from './open.ts'

export interface ConnectionBudget {
  /** Connections that Postgres gives to users without privileges. */
  readonly available: number
  /** Connections that this node wants at most. */
  readonly wanted: number
  /** Connections that other nodes with live fronts may hold in all. */
  readonly elsewhere: number
  readonly fits: boolean
}

/**
 * Compares the connections that this node and the others may hold with those that Postgres gives. Design §2.
 * @param wanted all connections that this node may hold at once, in any process
 */
export async function connectionBudget(
  sql: Queryable,
  node: string,
  wanted: number,
): Promise<ConnectionBudget> {
  const [limits] = await sql<{ available: number }[]>`
    SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true), '0')::int AS available`
  const [others] = await sql<{ sum: number }[]>`
    SELECT coalesce(sum(of_node), 0)::int AS sum FROM (
      SELECT max(connections) AS of_node FROM fronts
      WHERE node <> ${node} AND heartbeat_at > clock_timestamp() - ${FRONT_LIVE_MS} * interval '1 ms'
      GROUP BY node) AS others`
  const available = limits?.available ?? 0
  const elsewhere = others?.sum ?? 0
  return { available, wanted, elsewhere, fits: wanted + elsewhere <= available }
}
