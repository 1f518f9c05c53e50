import { UPLOAD_LEASE_MS } from '../../../schemas/files/file-limits.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import type { StaleUpload } from '../../ports/files/files.ts'
import { release } from './file-quota.ts'
import { fileRows } from './file-rows.ts'

/**
 * Ends the leases of writes whose front has no row. A live front has a row; its supervisor removes the row
 * when the front dies. A front whose row was removed by mistake writes it again within seconds, and its late
 * writes are rejected by the attempt of an upload and the claim of a path.
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
 * Ends the uploads and path claims of a front that died, immediately. The sweep removes the bytes of the
 * uploads, and measures the paths.
 */
export async function abandonWritesOf({ sql }: Pick<Store, 'sql'>, frontId: string): Promise<void> {
  const rows = await sql<{ id: string }[]>`
    UPDATE files SET lease_until = to_timestamp(0)
    WHERE state = 'pending' AND front_id = ${frontId} RETURNING id`
  for (const { id } of rows) await sql.begin((tx) => claimStale(tx, id, 0))
  await sql`UPDATE container_files SET writing_until = '-infinity' WHERE front_id = ${frontId} AND writing_until > clock_timestamp()`
}

/**
 * Fronts without a recent heartbeat, lease or claim: such a front on another machine may only be disconnected
 * from the store, but its staged bytes can no longer become a file.
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

/**
 * Claims an upload whose lease has expired: the row becomes abandoned and its quota is freed in one
 * transaction; the holder of the claim removes the bytes.
 */
export async function claimStale(tx: Transaction, id: string, leaseMs: number): Promise<StaleUpload | null> {
  const claimed = await fileRows.claim(tx, id, leaseMs)
  if (claimed === null) return null
  if (claimed.state === 'pending') {
    await release(tx, claimed)
    await fileRows.advance(tx, claimed, 'abandoned')
  }
  const [row] = await tx<{ workspace_id: string }[]>`SELECT workspace_id FROM files WHERE id = ${id}`
  return { id, workspaceId: row?.workspace_id ?? '', attempt: claimed.attempt }
}
