import type { SealedObject } from '../../ports/files/files.ts'
import type { Queryable } from '../base/open.ts'
import { OPEN_STATES } from './rows.ts'

/** Id of a job's object: the id of the job before the `-`. */
const CLIP_OBJECT = /^(vid_[0-9a-f]{32})-/

/** Objects that are clips, or may become clips: clips of open jobs are in storage before a row names them. */
export async function clipsAmong(sql: Queryable, objectIds: readonly string[]): Promise<readonly string[]> {
  const mayBe = objectIds.map((id) => ({ id, jobId: CLIP_OBJECT.exec(id)?.[1] ?? null }))
  // One statement: with two, a job could end in between, and its clips would then be in neither result.
  const rows = await sql<{ id: string }[]>`
    SELECT x.id FROM json_to_recordset(${JSON.stringify(mayBe)}::text::json) AS x(id text, "jobId" text)
    WHERE EXISTS (SELECT FROM video_clips c WHERE c.object_id = x.id)
      OR EXISTS (SELECT FROM video_jobs j WHERE j.id = x."jobId" AND j.state IN (${sql.unsafe(OPEN_STATES)}))`
  return rows.map(({ id }) => id)
}

/** Clips of all jobs in the order of their objects' ids. */
export async function clipPage(
  sql: Queryable,
  after: string | null,
  countMax: number,
): Promise<readonly SealedObject[]> {
  const rows = await sql<
    { object_id: string; workspace_id: string; data_key_id: string; size_bytes: string; sha256: string }[]
  >`
    SELECT object_id, workspace_id, data_key_id, size_bytes, sha256 FROM video_clips
    WHERE ${after === null ? sql`true` : sql`object_id > ${after}`} ORDER BY object_id LIMIT ${countMax}`
  return rows.map((row) => ({
    id: row.object_id,
    workspaceId: row.workspace_id,
    dataKeyId: row.data_key_id,
    sizeBytes: Number(row.size_bytes),
    sha256: row.sha256,
  }))
}
