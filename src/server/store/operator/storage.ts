import { ADMIN_FILES_COUNTED_MAX } from '../../../schemas/operator/admin-limits.ts'
import { ok, type Outcome } from '../../../schemas/failures.ts'
import { STORAGE_QUOTA_BYTES_DEFAULT } from '../../../schemas/files/file-limits.ts'
import type { StorageRecord, StorageReport } from '../../ports/operator/admin.ts'
import type { PageInput } from '../../ports/workspaces/workspaces.ts'
import type { Queryable, Store } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { readPage } from './listed.ts'
import { isOperator } from './operator.ts'
import { lastSweep } from './sweeps.ts'

/**
 * The storage of an organization's workspaces.
 * @param operatorReference the organization that operates the installation, from the setting. Failure:
 * store_unavailable.
 */
export function readStorage(
  store: Store,
  operatorReference: string | null,
  { organizationId, page }: { readonly organizationId: string; readonly page: PageInput },
): Promise<Outcome<StorageReport>> {
  return reach(() =>
    readPage<StorageReport>(store, async (tx) => {
      const rows = await rowsOf(tx, organizationId, page)
      const [counted] = await tx<{ count: number }[]>`
      SELECT count(*)::int AS count FROM workspaces WHERE organization_id = ${organizationId} AND deleted_at IS NULL`
      const sweep = (await isOperator(tx, organizationId, operatorReference)) ? await lastSweep(tx) : null
      return ok({ rows, totalCount: counted?.count ?? 0, sweep })
    }),
  )
}

interface StorageRow {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly files: number
  /** A bigint of Postgres arrives as text. */
  readonly used_bytes: string
  readonly container_bytes: string
  readonly quota_bytes: string
}

async function rowsOf(
  sql: Queryable,
  organizationId: string,
  { limit, offset }: PageInput,
): Promise<readonly StorageRecord[]> {
  const rows = await sql<StorageRow[]>`
    SELECT w.id, w.slug, w.name, f.count AS files, COALESCE(s.used_bytes, 0) AS used_bytes,
      COALESCE(s.container_bytes, 0) AS container_bytes,
      COALESCE(w.storage_quota_bytes, ${STORAGE_QUOTA_BYTES_DEFAULT}::bigint) AS quota_bytes
    FROM (
      SELECT id, slug, name, storage_quota_bytes FROM workspaces WHERE organization_id = ${organizationId} AND deleted_at IS NULL
      ORDER BY id LIMIT ${limit} OFFSET ${offset}) w
    LEFT JOIN workspace_storage s ON s.workspace_id = w.id
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS count FROM (
        SELECT 1 FROM files WHERE workspace_id = w.id AND state = 'ready' LIMIT ${ADMIN_FILES_COUNTED_MAX}) counted) f
    ORDER BY w.id`
  return rows.map((row) => ({
    workspaceId: row.id,
    slug: row.slug,
    name: row.name,
    files: row.files,
    // The quota counts files and container files together.
    fileBytes: Number(BigInt(row.used_bytes) - BigInt(row.container_bytes)),
    containerBytes: Number(row.container_bytes),
    quotaBytes: Number(row.quota_bytes),
  }))
}
