import { ok, type Outcome } from '../../../schemas/failures.ts'
import { STORAGE_QUOTA_BYTES_DEFAULT } from '../../../schemas/files/file-limits.ts'
import type {
  FileTypeRecord,
  StorageInput,
  StorageRecord,
  StorageReport,
  SweepRecord,
} from '../../ports/operator/admin.ts'
import type { PageInput } from '../../ports/workspaces/workspaces.ts'
import { workspaceIdOf } from '../base/find-workspace.ts'
import type { Queryable, Store } from '../base/open.ts'
import { longReadsOf } from '../base/long-reads.ts'
import { reach } from '../base/translate.ts'
import { readPage } from './listed.ts'
import { isOperator } from './operator.ts'
import { ADMIN_FILE_TYPES_MAX, ADMIN_FILES_COUNTED_MAX } from '../../../schemas/operator/admin-port-limits.ts'

/**
 * The storage of an organization's workspaces, which requires reading up to ADMIN_FILES_COUNTED_MAX files of
 * each.
 * @param operatorReference the organization that operates the installation, from the setting Failures: busy,
 * store_unavailable, that of the signal.
 */
export function readStorage(
  store: Store,
  operatorReference: string | null,
  input: StorageInput,
): Promise<Outcome<StorageReport>> {
  const { organizationId: tenant, signal } = input
  return longReadsOf(store).within({ tenant, signal }, () => readNow(store, operatorReference, input))
}

function readNow(
  store: Store,
  operatorReference: string | null,
  { organizationId, page, workspace }: StorageInput,
): Promise<Outcome<StorageReport>> {
  return reach(() =>
    readPage<StorageReport>(store, async (tx) => {
      if (workspace !== null) return ok(await ofOne(tx, organizationId, workspace))
      const rows = await rowsOf(tx, organizationId, { page, only: null })
      const [counted] = await tx<{ count: number }[]>`
      SELECT count(*)::int AS count FROM workspaces WHERE organization_id = ${organizationId} AND deleted_at IS NULL`
      const sweep = (await isOperator(tx, organizationId, operatorReference)) ? await lastSweep(tx) : null
      return ok({ rows, totalCount: counted?.count ?? 0, sweep })
    }),
  )
}

const FIRST: PageInput = { limit: 1, offset: 0 }

/** One workspace with its files by type, which requires reading each of them. */
async function ofOne(tx: Queryable, organizationId: string, workspace: string): Promise<StorageReport> {
  const id = await workspaceIdOf(tx, organizationId, workspace)
  if (!id.ok) return { rows: [], totalCount: 0, sweep: null }
  const [found] = await rowsOf(tx, organizationId, { page: FIRST, only: id.value })
  if (found === undefined) return { rows: [], totalCount: 0, sweep: null }
  const types = await typesOf(tx, id.value)
  return { rows: [{ ...found, types }], totalCount: 1, sweep: null }
}

async function typesOf(tx: Queryable, workspaceId: string): Promise<readonly FileTypeRecord[]> {
  const rows = await tx<{ mime_type: string; files: number; bytes: string }[]>`
    SELECT mime_type, count(*)::int AS files, sum(size_bytes) AS bytes FROM (
      SELECT mime_type, size_bytes FROM files WHERE workspace_id = ${workspaceId} AND state = 'ready'
      ORDER BY id DESC LIMIT ${ADMIN_FILES_COUNTED_MAX}) counted
    GROUP BY mime_type ORDER BY sum(size_bytes) DESC, mime_type LIMIT ${ADMIN_FILE_TYPES_MAX}`
  return rows.map((row) => ({ mimeType: row.mime_type, files: row.files, bytes: Number(row.bytes) }))
}

interface StorageRow {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly files: number
  /** A bigint of Postgres is returned as text. */
  readonly used_bytes: string
  readonly container_bytes: string
  readonly quota_bytes: string
}

async function rowsOf(
  sql: Queryable,
  organizationId: string,
  { page: { limit, offset }, only }: { readonly page: PageInput; readonly only: string | null },
): Promise<readonly StorageRecord[]> {
  const rows = await sql<StorageRow[]>`
    SELECT w.id, w.slug, w.name, f.count AS files, COALESCE(s.used_bytes, 0) AS used_bytes,
      COALESCE(s.container_bytes, 0) AS container_bytes,
      COALESCE(w.storage_quota_bytes, ${STORAGE_QUOTA_BYTES_DEFAULT}::bigint) AS quota_bytes
    FROM (
      SELECT id, slug, name, storage_quota_bytes FROM workspaces WHERE organization_id = ${organizationId} AND deleted_at IS NULL
        AND ${only === null ? sql`true` : sql`id = ${only}`}
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
    // `used_bytes` includes container files, which are subtracted here.
    fileBytes: Number(BigInt(row.used_bytes) - BigInt(row.container_bytes)),
    containerBytes: Number(row.container_bytes),
    quotaBytes: Number(row.quota_bytes),
    types: null,
  }))
}

/** The runner that swept: identified by its slot on a node, independently of the process. */
interface Sweeper {
  readonly node: string
  readonly slot: number
}

/** Replaces the stored report of a runner's last sweep. Throws the errors of Postgres. */
export async function keepSweep(
  sql: Queryable,
  { node, slot }: Sweeper,
  report: SweepRecord['report'],
): Promise<void> {
  await sql`
    INSERT INTO sweep_reports (node, slot, ended_at, report) VALUES (${node}, ${slot}, clock_timestamp(), ${sql.json(report)})
    ON CONFLICT (node, slot) DO UPDATE SET ended_at = excluded.ended_at, report = excluded.report`
}

/** The last sweep of all runners. */
export async function lastSweep(sql: Queryable): Promise<SweepRecord | null> {
  const [row] = await sql<
    SweepRecord[]
  >`SELECT ended_at AS "endedAt", report FROM sweep_reports ORDER BY ended_at DESC LIMIT 1`
  return row === undefined ? null : { endedAt: row.endedAt, report: row.report }
}
