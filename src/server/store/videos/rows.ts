import type { OpenVideoState, VideoState } from '../../../schemas/videos/video-jobs.ts'
import type { ClaimedVideo, VideoMade } from '../../ports/videos/video-work.ts'
import type { VideoAttached, VideoRequest } from '../../ports/videos/videos.ts'
import { guardedRows } from '../base/guarded-row.ts'

/** States of open jobs, as text of a statement: the condition of the partial indexes. */
export const OPEN_STATES = `'accepted', 'submitting', 'running', 'storing'`

/** Columns of `VideoRow`. `attached` is left out: a runner that held thousands of attached parts would run out of memory. */
const ROW_COLUMNS = [
  'id',
  'organization_id',
  'workspace_id',
  'key_hash',
  'key_account_id',
  'request_id',
  'model',
  'provider',
  'endpoint',
  'upstream_model',
  'own_secret',
  'request',
  'state',
  'attempt',
  'submit_token',
  'submissions',
  'polls',
  'submitted_at',
  'submit_ends_at',
  'upstream_id',
  'generation_id',
  'made',
  'error',
  'outputs',
  'seconds',
  'cost_nano',
  'is_unpriced',
  'hold_id',
  'callback_url',
  'created_at',
  'expires_at',
  'ended_at',
] as const satisfies readonly (keyof VideoRow)[]

/** `busyUntil`: no process takes a job over while a call that submits the job to the provider may still be running. Design §7. */
export const videoRows = guardedRows<VideoState>({
  table: 'video_jobs',
  claimable: ['accepted', 'submitting', 'running', 'storing'],
  busyUntil: { state: 'submitting', column: 'submit_ends_at' },
  kept: 'polls',
  whole: `${ROW_COLUMNS.map((name) => `t.${name}`).join(', ')}, t.attached IS NOT NULL AS has_attached`,
})

export const NOTHING_ATTACHED: VideoAttached = { frames: [], references: [], passthrough: {} }

/** A row of `video_jobs`. A bigint of Postgres arrives as text. */
export interface VideoRow {
  readonly id: string
  readonly organization_id: string
  readonly workspace_id: string
  readonly key_hash: string
  readonly key_account_id: string
  readonly request_id: string
  readonly model: string
  readonly provider: string
  readonly endpoint: string
  readonly upstream_model: string
  readonly own_secret: string | null
  /** JSON; null once the job has ended, as `made` is. */
  readonly request: string | null
  readonly state: VideoState
  readonly attempt: number
  readonly submit_token: string
  readonly submissions: number
  readonly polls: number
  readonly submitted_at: Date | null
  readonly submit_ends_at: Date | null
  readonly upstream_id: string | null
  readonly generation_id: string | null
  readonly made: string | null
  readonly error: string | null
  readonly outputs: number
  readonly seconds: number
  readonly cost_nano: string
  readonly is_unpriced: boolean
  readonly hold_id: string
  readonly callback_url: string | null
  readonly created_at: Date
  readonly expires_at: Date
  readonly ended_at: Date | null
}

/** A row with the instant of Postgres' clock at which it was read. */
export type ReadRow = VideoRow & { readonly read_at: Date; readonly has_attached: boolean }

/** @param row of an open job */
export function claimedOf(row: ReadRow): ClaimedVideo {
  return {
    id: row.id,
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    keyHash: row.key_hash,
    requestId: row.request_id,
    attempt: row.attempt,
    state: row.state as OpenVideoState,
    target: {
      model: row.model,
      provider: row.provider,
      endpoint: row.endpoint,
      upstreamModel: row.upstream_model,
      ownSecret: row.own_secret,
    },
    request: {
      ...NOTHING_ATTACHED,
      ...(JSON.parse(row.request ?? 'null') as Omit<VideoRequest, keyof VideoAttached>),
    },
    hasAttached: row.has_attached,
    submitToken: row.submit_token,
    submissions: row.submissions,
    polls: row.polls,
    submittedAtMs: row.submitted_at?.getTime() ?? null,
    submitEndsAtMs: row.submit_ends_at?.getTime() ?? null,
    upstreamId: row.upstream_id,
    generationId: row.generation_id,
    made: row.made === null ? null : (JSON.parse(row.made) as VideoMade),
    createdAtMs: row.created_at.getTime(),
    readAtMs: row.read_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
  }
}
