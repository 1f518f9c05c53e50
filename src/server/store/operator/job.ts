import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { isVideoEnding } from '../../../schemas/videos/video-jobs.ts'
import type { AdminJobStep } from '../../../schemas/operator/admin.ts'
import type { AdminActor, ClipRead, JobDetails } from '../../ports/operator/admin.ts'
import { appendAudit } from '../base/append-audit.ts'
import { isVideoId } from '../base/ids.ts'
import type { Queryable, Store } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { deliveriesOfJob } from './deliveries.ts'
import { jobColumns, jobOf, jobTables, type JobRow } from './jobs.ts'
import { readPage } from './listed.ts'

interface DetailRow extends JobRow {
  readonly request_id: string
  readonly key_hash: string
  readonly generation_id: string | null
  readonly endpoint: string
  readonly upstream_model: string
  readonly upstream_id: string | null
  readonly own_secret: string | null
  readonly seconds: number
  readonly attempt: number
  /** Null when the job is never due. */
  readonly lease_until: Date | null
  readonly submitted_at: Date | null
  readonly running_at: Date | null
  readonly storing_at: Date | null
  readonly expires_at: Date
  readonly outputs: number
  readonly clips_expire_at: Date | null
  readonly callback_url: string | null
}

/** Failures: video_unknown, store_unavailable. */
export function readJob(store: Store, organizationId: string, id: string): Promise<Outcome<JobDetails>> {
  return reach(() =>
    readPage<JobDetails>(store, async (tx) => {
      if (!isVideoId(id)) return fail('video_unknown')
      const [row] = await tx<DetailRow[]>`
      SELECT ${jobColumns(tx)}, j.request_id, j.key_hash, j.generation_id, j.endpoint, j.upstream_model, j.upstream_id, j.own_secret, j.seconds,
        j.attempt, CASE WHEN isfinite(j.lease_until) THEN j.lease_until END AS lease_until, j.submitted_at, j.running_at, j.storing_at,
        j.expires_at, j.outputs, j.clips_expire_at, j.callback_url
      FROM ${jobTables(tx)} WHERE j.id = ${id} AND j.organization_id = ${organizationId}`
      if (row === undefined) return fail('video_unknown')
      const [clips, deliveries] = await Promise.all([clipsOf(tx, id), deliveriesOfJob(tx, row)])
      return ok({ ...detailsOf(row), clips, deliveries })
    }),
  )
}

/** Id of the workspace of a job. Failures: video_unknown, store_unavailable. */
export function workspaceOfJob({ sql }: Store, organizationId: string, id: string): Promise<Outcome<string>> {
  return reach(async () => {
    if (!isVideoId(id)) return fail('video_unknown')
    const [row] = await sql<
      { workspace_id: string }[]
    >`SELECT workspace_id FROM video_jobs WHERE id = ${id} AND organization_id = ${organizationId}`
    return row === undefined ? fail('video_unknown') : ok(row.workspace_id)
  })
}

/** Failure: store_unavailable. */
export function noteClip(
  { sql }: Store,
  { organizationId, workspaceId, jobId, index }: ClipRead,
  by: AdminActor,
): Promise<Outcome<null>> {
  return reach(async () => {
    await sql.begin((tx) =>
      appendAudit(tx, {
        ...by,
        organizationId,
        workspaceId,
        outcome: 'released',
        objectKind: 'video_clip',
        objectId: jobId,
        before: null,
        after: { index },
      }),
    )
    return ok(null)
  })
}

async function clipsOf(sql: Queryable, jobId: string): Promise<JobDetails['clips']> {
  const rows = await sql<{ index: number; size_bytes: string; sha256: string; created_at: Date }[]>`
    SELECT index, size_bytes, sha256, created_at FROM video_clips WHERE job_id = ${jobId} ORDER BY index`
  return rows.map((row) => ({
    index: row.index,
    sizeBytes: Number(row.size_bytes),
    sha256: row.sha256,
    createdAt: row.created_at,
  }))
}

function detailsOf(row: DetailRow): Omit<JobDetails, 'clips' | 'deliveries'> {
  return {
    ...jobOf(row),
    requestId: row.request_id,
    keyHash: row.key_hash,
    generationId: row.generation_id,
    endpoint: row.endpoint,
    upstreamModel: row.upstream_model,
    upstreamId: row.upstream_id,
    isByok: row.own_secret !== null,
    seconds: row.seconds,
    steps: stepsOf(row),
    lease: isVideoEnding(row.state) ? null : { attempt: row.attempt, until: row.lease_until },
    expiresAt: row.expires_at,
    clipsMade: row.outputs,
    clipsExpireAt: row.clips_expire_at,
    callbackHost:
      row.callback_url === null || !URL.canParse(row.callback_url)
        ? null
        : new URL(row.callback_url).hostname,
  }
}

function stepsOf(row: DetailRow): JobDetails['steps'] {
  const instants: readonly (readonly [AdminJobStep, Date | null])[] = [
    ['accepted', row.created_at],
    ['submitted', row.submitted_at],
    ['running', row.running_at],
    ['storing', row.storing_at],
    ['ended', row.ended_at],
  ]
  return instants.flatMap(([step, at]) => (at === null ? [] : [{ step, at }]))
}
