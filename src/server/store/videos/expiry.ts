import { VIDEO_CLIPS_MAX } from '../../../schemas/videos/video-limits.ts'
import type { Queryable } from '../base/open.ts'

/**
 * Removes rows of clips whose time is over, the oldest first. @returns their objects, whose bytes are removed
 * next
 */
export async function expireClips(sql: Queryable, countMax: number): Promise<readonly string[]> {
  const jobsMax = Math.max(1, Math.floor(countMax / VIDEO_CLIPS_MAX))
  const rows = await sql<{ object_id: string }[]>`
    WITH due AS MATERIALIZED (
      SELECT id FROM video_jobs WHERE clips_expire_at < now() ORDER BY clips_expire_at LIMIT ${jobsMax} FOR UPDATE SKIP LOCKED),
    noted AS (UPDATE video_jobs AS j SET clips_expire_at = NULL FROM due WHERE j.id = due.id)
    DELETE FROM video_clips AS c USING due WHERE c.job_id = due.id RETURNING c.object_id`
  return rows.map((row) => row.object_id)
}
