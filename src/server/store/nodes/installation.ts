import { FRONT_LIVE_MS } from '../../../schemas/limits/limits.ts'
import type { Installation, SharedPlaces } from '../../ports/installation.ts'
import type { Queryable } from '../base/open.ts'

export async function readInstallation(sql: Queryable, node: string): Promise<Installation> {
  const [row] = await sql<Installation[]>`
    WITH live AS (SELECT clock_timestamp() - ${FRONT_LIVE_MS} * interval '1 ms' AS since)
    SELECT mark::text, redis, objects, joins::text,
      coalesce(node <> ${node} AND joined_at > live.since, false)
        OR EXISTS (SELECT 1 FROM fronts WHERE fronts.node <> ${node} AND heartbeat_at > live.since) AS "isShared"
    FROM installation, live`
  if (row === undefined) throw new Error('the `installation` table has no row')
  return row
}

export async function readMark(sql: Queryable): Promise<string> {
  const [row] = await sql<{ mark: string }[]>`SELECT mark::text FROM installation`
  if (row === undefined) throw new Error('the `installation` table has no row')
  return row.mark
}

/**
 * Records the shared places (storage, Redis) of a node that joins.
 * @param seen number of joins that the node had read when it was admitted
 * @returns false when another node joined in between
 */
export async function joinInstallation(
  sql: Queryable,
  { node, seen, places }: { readonly node: string; readonly seen: string; readonly places: SharedPlaces },
): Promise<boolean> {
  const { count } = await sql`
    UPDATE installation SET redis = ${places.redis}, objects = ${places.objects}, node = ${node},
      joined_at = clock_timestamp(), joins = joins + 1
    WHERE joins = ${seen}`
  return count === 1
}

export async function noteBackupEnd(sql: Queryable): Promise<void> {
  await sql`UPDATE installation SET backed_up_at = clock_timestamp()`
}

/** The end of the last backup; null: none was made. */
export async function lastBackup(sql: Queryable): Promise<Date | null> {
  const [row] = await sql<{ at: Date | null }[]>`SELECT backed_up_at AS at FROM installation`
  return row?.at ?? null
}

/** Marks a node as having left, so that it does not prevent the next one, which may have other settings, from starting. */
export async function leaveInstallation(sql: Queryable, node: string): Promise<void> {
  await sql`UPDATE installation SET joined_at = NULL WHERE node = ${node}`
}
