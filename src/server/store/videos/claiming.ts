import type { ClaimedVideo } from '../../ports/videos/video-work.ts'
import type { Fragment } from '../base/guarded-row.ts'
import type { Queryable } from '../base/open.ts'
import { claimedOf, OPEN_STATES, videoRows, type ReadRow } from './rows.ts'

/**
 * Due jobs of one provider that a claim reads beside those that it may take: beyond that each workspace shows
 * fewer. Decision.
 */
const SEEN_MAX = 5_000
/** Due jobs of a workspace and provider that are counted. Decision. */
const COUNTED_MAX = 300

/**
 * Claims due jobs, alternating between the workspaces of each provider, and for each workspace those due the
 * longest, so that the many jobs of one workspace do not delay others. Jobs that another process is just
 * claiming are skipped.
 */
export async function claim(
  sql: Queryable,
  room: ReadonlyMap<string, number>,
  leaseMs: number,
): Promise<readonly ClaimedVideo[]> {
  const inputs = [...room]
    .filter(([, count]) => count > 0)
    .map(([provider, count]) => ({ provider, room: count }))
  if (inputs.length === 0) return []
  const taken = await videoRows.claimAll<ReadRow>(sql, chosen(sql, inputs), leaseMs)
  return taken.map(claimedOf)
}

interface Input {
  readonly provider: string
  readonly room: number
}

function chosen(sql: Queryable, inputs: readonly Input[]): Fragment {
  // Reads twice as many jobs as there is room for, since another process may be claiming the first ones.
  return sql`
    WITH RECURSIVE wish AS (SELECT * FROM json_to_recordset(${JSON.stringify(inputs)}::text::json) AS w(provider text, room integer)),
    ${ownersOf(sql)},
    capped AS (
      SELECT provider, workspace_id, least(2 * room, greatest((2 * room + n - 1) / n, ${SEEN_MAX}::integer / n)) AS most
      FROM (SELECT o.*, w.room, (count(*) OVER (PARTITION BY o.provider))::integer AS n FROM owner o JOIN wish w USING (provider)) AS counted),
    seen AS (
      SELECT c.provider, d.id, d.lease_until, row_number() OVER (PARTITION BY c.provider, c.workspace_id ORDER BY d.lease_until, d.id) AS turn
      FROM capped c CROSS JOIN LATERAL (
        SELECT id, lease_until FROM video_jobs j
        WHERE j.provider = c.provider AND j.workspace_id = c.workspace_id AND ${videoRows.hasWork(sql)}
        ORDER BY lease_until LIMIT c.most) AS d),
    ranked AS MATERIALIZED (SELECT provider, id, row_number() OVER (PARTITION BY provider ORDER BY turn, lease_until, id) AS nth FROM seen)
    SELECT h.id FROM wish w CROSS JOIN LATERAL (
      SELECT j.id FROM ranked r JOIN video_jobs j ON j.id = r.id
      WHERE r.provider = w.provider AND r.nth <= 2 * w.room AND ${videoRows.hasWork(sql)}
      ORDER BY r.nth LIMIT w.room FOR UPDATE OF j SKIP LOCKED) AS h`
}

/**
 * `owner`: workspaces with open jobs of each `wish`, found by jumps along the index, since one workspace may
 * have many jobs.
 */
function ownersOf(sql: Queryable): Fragment {
  const open = sql.unsafe(`state IN (${OPEN_STATES})`)
  return sql`
    owner AS (
      SELECT w.provider, f.workspace_id FROM wish w CROSS JOIN LATERAL (
        SELECT workspace_id FROM video_jobs WHERE provider = w.provider AND ${open} ORDER BY workspace_id LIMIT 1) AS f
      UNION ALL
      SELECT o.provider, f.workspace_id FROM owner o CROSS JOIN LATERAL (
        SELECT workspace_id FROM video_jobs WHERE provider = o.provider AND workspace_id > o.workspace_id AND ${open}
        ORDER BY workspace_id LIMIT 1) AS f)`
}

/** Providers with due jobs, each with their number, COUNTED_MAX at most for a workspace. */
export async function countDue(sql: Queryable): Promise<ReadonlyMap<string, number>> {
  const open = sql.unsafe(`state IN (${OPEN_STATES})`)
  const rows = await sql<{ provider: string; count: number }[]>`
    WITH RECURSIVE wish AS (
      (SELECT provider FROM video_jobs WHERE ${open} ORDER BY provider LIMIT 1)
      UNION ALL
      SELECT f.provider FROM wish w CROSS JOIN LATERAL (
        SELECT provider FROM video_jobs WHERE provider > w.provider AND ${open} ORDER BY provider LIMIT 1) AS f),
    ${ownersOf(sql)}
    SELECT o.provider, sum(d.count)::integer AS count FROM owner o CROSS JOIN LATERAL (
      SELECT count(*) FROM (
        SELECT FROM video_jobs j WHERE j.provider = o.provider AND j.workspace_id = o.workspace_id AND ${videoRows.hasWork(sql)}
        LIMIT ${COUNTED_MAX}) AS found) AS d
    GROUP BY o.provider HAVING sum(d.count) > 0`
  return new Map(rows.map(({ provider, count }) => [provider, count]))
}
