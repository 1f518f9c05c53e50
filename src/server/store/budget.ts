import { FRONT_LIVE_MS } from '../../schemas/limits.ts'
import type { Queryable } from './open.ts'

export interface ConnectionBudget {
  /** Connections that Postgres gives to users like ours. */
  readonly available: number
  /** What this node wants at most. */
  readonly wanted: number
  /** What live fronts of other nodes may hold. */
  readonly elsewhere: number
  readonly fits: boolean
}

/** Connections beside those of fronts and runners: migrator, CLI verbs, and fronts that overlap during a roll. */
const SPARE = 5

/**
 * Compares what this node and the other ones may hold with what Postgres gives. Design §2.
 * @param wanted fronts × connections of each + runners × connections of each
 */
export async function connectionBudget(sql: Queryable, node: string, wanted: number): Promise<ConnectionBudget> {
  const [limits] = await sql<{ available: number }[]>`
    SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true), '0')::int AS available`
  const [others] = await sql<{ sum: number }[]>`
    SELECT coalesce(sum(connections), 0)::int AS sum FROM fronts
    WHERE node <> ${node} AND heartbeat_at > clock_timestamp() - ${FRONT_LIVE_MS} * interval '1 ms'`
  const available = limits?.available ?? 0
  const elsewhere = others?.sum ?? 0
  return { available, wanted: wanted + SPARE, elsewhere, fits: wanted + SPARE + elsewhere <= available }
}
