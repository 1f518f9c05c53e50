import { PURPOSE_DEFAULT } from '../../schemas/files.ts'
import type { FileFacts, FileRecord } from '../ports/files.ts'
import { guardedRows, type Columns } from './guarded-row.ts'
import type { Queryable } from './open.ts'

export type FileState = 'pending' | 'ready' | 'abandoned' | 'deleted'

/** Work is left in a pending row (its upload, or the sweep's) and in an abandoned one (its bytes). */
export const fileRows = guardedRows<FileState>({ table: 'files', claimable: ['pending', 'abandoned'] })

/** A row in a state that has all of these. */
export interface FileRow {
  readonly id: string
  readonly workspace_id: string
  readonly filename: string
  readonly mime_type: string
  /** A bigint of Postgres arrives as text. */
  readonly size_bytes: string
  readonly sha256: string
  readonly data_key_id: string
  readonly is_downloadable: boolean
  readonly purpose: string | null
  readonly created_at: Date
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

interface FileRowsWish {
  readonly after: string | null
  readonly purpose?: string | null
  readonly countMax: number
}

/** Ready files in the order of their ids. @param workspaceId null = of all */
export async function listFiles(
  sql: Queryable, workspaceId: string | null, { after, purpose = null, countMax }: FileRowsWish,
): Promise<readonly FileRecord[]> {
  const rows = await sql<FileRow[]>`
    SELECT * FROM files
    WHERE state = 'ready' AND ${workspaceId === null ? sql`true` : sql`workspace_id = ${workspaceId}`}
      AND ${purpose === null ? sql`true` : sql`COALESCE(purpose, ${sql.unsafe(`'${PURPOSE_DEFAULT}'`)}) = ${purpose}`}
      AND ${after === null ? sql`true` : sql`id > ${after}`}
    ORDER BY id LIMIT ${countMax}`
  return rows.map(fileOf)
}
