import { UPLOAD_LEASE_MS } from '../../../schemas/files/file-limits.ts'
import type { Queryable, Store } from '../base/open.ts'
import { claimStale } from './stale-uploads.ts'

/**
 * Writes of fronts that are gone are nobody's at once: a front that lives has a row, which its supervisor
 * takes away when it dies, and writes it again within seconds where it was taken by mistake. What it writes
 * then is fenced off, by the attempt of an upload and the claim of a path.
 */
export async function endOfDeadFronts(sql: Queryable): Promise<void> {
  await sql`
    UPDATE files f SET lease_until = to_timestamp(0)
    WHERE state = 'pending' AND front_id IS NOT NULL AND lease_until > clock_timestamp()
      AND NOT EXISTS (SELECT 1 FROM fronts WHERE fronts.id = f.front_id)`
  await sql`
    UPDATE container_files c SET writing_until = '-infinity'
    WHERE front_id IS NOT NULL AND writing_until > clock_timestamp()
      AND NOT EXISTS (SELECT 1 FROM fronts WHERE fronts.id = c.front_id)`
}

/**
 * Gives back at once what the uploads of a front that died have reserved, and the paths that it was writing
 * to. The sweep removes the bytes of the ones, and looks what lies at the others.
 */
export async function abandonWritesOf({ sql }: Pick<Store, 'sql'>, frontId: string): Promise<void> {
  const rows = await sql<{ id: string }[]>`
    UPDATE files SET lease_until = to_timestamp(0)
    WHERE state = 'pending' AND front_id = ${frontId} RETURNING id`
  for (const { id } of rows) await sql.begin((tx) => claimStale(tx, id, 0))
  await sql`UPDATE container_files SET writing_until = '-infinity' WHERE front_id = ${frontId} AND writing_until > clock_timestamp()`
}

/**
 * A front of another machine that was silent for as long as a lease may live, cut off from the store: but
 * what it has staged cannot become a file any more once no lease and no claim of its own holds.
 */
export async function goneFronts(sql: Queryable, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM unnest(string_to_array(${ids.join(',')}, ',')::uuid[]) AS owner(id)
    WHERE NOT EXISTS (SELECT 1 FROM fronts WHERE fronts.id = owner.id AND heartbeat_at > clock_timestamp() - ${UPLOAD_LEASE_MS} * interval '1 ms')
      AND NOT EXISTS (SELECT 1 FROM files WHERE front_id = owner.id AND state = 'pending' AND lease_until > clock_timestamp())
      AND NOT EXISTS (SELECT 1 FROM container_files WHERE front_id = owner.id AND writing_until > clock_timestamp())`
  return new Set(rows.map(({ id }) => id))
}
