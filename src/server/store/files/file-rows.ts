import { FILES_PAGE_DEFAULT } from '../../../schemas/files/file-limits.ts'
import { PURPOSE_DEFAULT } from '../../../schemas/files/files.ts'
import type { FileFacts, FileRecord } from '../../ports/files/files.ts'
import { guardedRows, type Columns } from '../base/guarded-row.ts'
import type { Queryable } from '../base/open.ts'

export type FileState = 'pending' | 'ready' | 'abandoned' | 'deleted'

/** Work remains for a pending row (by its upload or the sweep) and for an abandoned row (to remove its bytes). */
export const fileRows = guardedRows<FileState>({ table: 'files', claimable: ['pending', 'abandoned'] })

/** A row in a state in which all of these columns are filled. */
export interface FileRow {
  readonly id: string
  readonly workspace_id: string
  readonly filename: string
  readonly mime_type: string
  /** A bigint of Postgres is returned as text. */
  readonly size_bytes: string
  readonly sha256: string
  readonly data_key_id: string
  readonly is_downloadable: boolean
  readonly purpose: string | null
  readonly created_at: Date
  readonly expires_at: Date | null
}

export function fileOf(row: FileRow): FileRecord {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    filename: row.filename,
    mimeType: row.mime_type,
    sizeBytes: Number(row.size_bytes),
    sha256: row.sha256,
    dataKeyId: row.data_key_id,
    isDownloadable: row.is_downloadable,
    purpose: row.purpose,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }
}

export function columnsOf(facts: FileFacts): Columns {
  return {
    filename: facts.filename,
    mime_type: facts.mimeType,
    size_bytes: facts.sizeBytes,
    sha256: facts.sha256,
    data_key_id: facts.dataKeyId,
    is_downloadable: facts.isDownloadable,
    purpose: facts.purpose,
  }
}

/** Condition: the file has expired. The workspace no longer sees it, and the sweep removes it. */
export function isExpired(sql: Queryable) {
  return sql`(expires_at IS NOT NULL AND expires_at <= clock_timestamp())`
}

interface FileRowsInput {
  readonly after: string | null
  readonly before?: string | null
  readonly purpose?: string | null
  readonly ids?: readonly string[] | null
  readonly countMax: number
}

/** Sorts after every file id. */
const LAST_ID = '~'
/** Only a few values, since each one is a separate prepared statement. One row more than the page shows whether there is another page. */
const ROWS_READ = [FILES_PAGE_DEFAULT, ...Array.from({ length: 11 }, (_, power) => 2 ** power)]
  .map((limit) => limit + 1)
  .sort((a, b) => a - b)

/**
 * Ready files in the order of their ids. The bounds of a workspace's page are row values, for which only one
 * index provides the order. The limit is not a parameter: with a parameter Postgres would assume that a page
 * contains a tenth of all files, and would plan each call again.
 * @param workspaceId null = all workspaces, including expired files
 */
export async function listFiles(
  sql: Queryable,
  workspaceId: string | null,
  input: FileRowsInput,
): Promise<readonly FileRecord[]> {
  const { countMax, ids = null } = input
  if (workspaceId !== null && ids !== null) return namedFiles(sql, workspaceId, { ...input, ids })
  const read = ROWS_READ.find((rows) => rows >= countMax) ?? countMax
  const rows = await (workspaceId === null
    ? allRows(sql, input)
    : rowsOf(sql, workspaceId, { ...input, countMax: read }))
  const files = rows.slice(0, countMax).map(fileOf)
  return isBackwards(input) ? files.reverse() : files
}

/** Reads files by the primary key: the number of rows read is limited by the number of ids, not by the files of the workspace. */
async function namedFiles(
  sql: Queryable,
  workspaceId: string,
  { ids, purpose = null, countMax }: FileRowsInput & { readonly ids: readonly string[] },
): Promise<readonly FileRecord[]> {
  const rows = await sql<FileRow[]>`
    SELECT * FROM files WHERE id = ANY(string_to_array(${ids.join(',')}, ',')) AND workspace_id = ${workspaceId} AND state = 'ready' AND NOT ${isExpired(sql)}
      ${purpose === null ? sql`` : sql`AND COALESCE(purpose, ${PURPOSE_DEFAULT}) = ${purpose}`}
    ORDER BY id LIMIT ${countMax}`
  return rows.map(fileOf)
}

function isBackwards({ before = null }: FileRowsInput): boolean {
  return before !== null
}

function allRows(sql: Queryable, { after, countMax }: FileRowsInput) {
  return sql<
    FileRow[]
  >`SELECT * FROM files WHERE state = 'ready' AND id > ${after ?? ''} ORDER BY id LIMIT ${countMax}`
}

function rowsOf(sql: Queryable, workspaceId: string, input: FileRowsInput) {
  const { after, before = null, purpose = null, countMax } = input
  const columns = sql.unsafe(
    purpose === null ? 'workspace_id, id' : `workspace_id, COALESCE(purpose, '${PURPOSE_DEFAULT}'), id`,
  )
  const place = (id: string) =>
    purpose === null ? sql`(${workspaceId}::uuid, ${id})` : sql`(${workspaceId}::uuid, ${purpose}, ${id})`
  return sql<FileRow[]>`
    SELECT * FROM files WHERE state = 'ready' AND NOT ${isExpired(sql)} AND (${columns}) > ${place(after ?? '')} AND (${columns}) < ${place(before ?? LAST_ID)}
    ORDER BY ${isBackwards(input) ? descending(sql, purpose) : columns} LIMIT ${sql.unsafe(String(countMax))}`
}

function descending(sql: Queryable, purpose: string | null) {
  return sql.unsafe(
    purpose === null
      ? 'workspace_id DESC, id DESC'
      : `workspace_id DESC, COALESCE(purpose, '${PURPOSE_DEFAULT}') DESC, id DESC`,
  )
}
