import { VIDEO_ERROR_CHARS_MAX } from '../../../schemas/videos/video-limits.ts'
import type { VideoEnding, OpenVideoState } from '../../../schemas/videos/video-jobs.ts'
import { webhookBody } from '../../../schemas/webhooks/webhook-body.ts'
import type { Log } from '../../ports/observe.ts'
import type { StoredClip } from '../../ports/videos/video-work.ts'
import type { NewDelivery } from '../../ports/webhooks/webhooks.ts'
import { plain } from '../money/lending/books.ts'
import type { Transaction } from '../base/open.ts'
import { insertDeliveries, endedVideoOf } from '../webhooks/outbox.ts'
import { OPEN_STATES, type VideoRow } from './rows.ts'
import { settle, type SettledRow, type Settling } from './settling.ts'

export interface EndInput {
  readonly id: string
  /** Attempt of the claim; null: any attempt. */
  readonly attempt: number | null
  /** Number of polls; null: the row's number. */
  readonly polls: number | null
  readonly state: VideoEnding
  readonly error: string | null
  readonly clips: readonly StoredClip[]
  /** The settlement of the job's money, by its state before the end. */
  readonly settling: (was: OpenVideoState) => Settling
}

export interface EndContext {
  readonly log: Log
  /** The public origin of the service; null: no webhook reports an end. */
  readonly origin: string | null
  readonly clipsKeptMs: number
}

export type EndedRow = SettledRow & VideoRow & { readonly was: OpenVideoState }

/**
 * Ends jobs with all consequences. Locks: the jobs in the order of their ids, and last the accounts.
 * @param inputs of different jobs
 * @returns jobs that ended now; jobs that another process holds by now, or that ended before, are left out and not
 * booked
 */
export async function endJobs(
  tx: Transaction,
  inputs: readonly EndInput[],
  context: EndContext,
): Promise<readonly EndedRow[]> {
  const rows = await endRows(tx, inputs, context)
  if (rows.length === 0) return rows
  const byId = new Map(inputs.map((input) => [input.id, input]))
  const ended = rows.flatMap((row) => {
    const input = byId.get(row.id)
    return input === undefined ? [] : [{ row, input, settling: input.settling(row.was) }]
  })
  await Promise.all([
    insertClips(
      tx,
      ended.flatMap(({ row, input }) => input.clips.map((clip, index) => ({ row, clip, index }))),
    ),
    insertDeliveries(
      tx,
      rows.flatMap((row) => deliveryOf(row, context.origin)),
    ),
  ])
  await settle(tx, ended, context.log)
  return rows
}

async function endRows(
  tx: Transaction,
  inputs: readonly EndInput[],
  { clipsKeptMs }: EndContext,
): Promise<readonly EndedRow[]> {
  const rows = inputs.map(({ id, attempt, polls, state, error, clips }) => ({
    id,
    attempt,
    polls,
    state,
    error: error === null ? null : plain(error.slice(0, VIDEO_ERROR_CHARS_MAX)),
    outputs: clips.length,
  }))
  return tx<EndedRow[]>`
    WITH x AS MATERIALIZED (SELECT * FROM json_to_recordset(${JSON.stringify(rows)}::text::json)
      AS x(id text, attempt integer, polls integer, state text, error text, outputs integer)),
    held AS MATERIALIZED (
      SELECT j.id, j.state AS was, x.polls, x.state, x.error, x.outputs FROM video_jobs j JOIN x ON x.id = j.id
      WHERE j.state IN (${tx.unsafe(OPEN_STATES)}) AND (x.attempt IS NULL OR x.attempt = j.attempt)
      ORDER BY j.id FOR UPDATE OF j)
    UPDATE video_jobs AS j SET state = held.state, error = held.error, outputs = held.outputs, attempt = j.attempt + 1,
      polls = COALESCE(held.polls, j.polls),
      ended_at = clock_timestamp(), request = NULL, attached = NULL, made = NULL,
      clips_expire_at = CASE WHEN held.outputs > 0 THEN clock_timestamp() + ${clipsKeptMs} * interval '1 ms' END
    FROM held WHERE j.id = held.id RETURNING j.*, j.hold_day::text AS hold_day, held.was`
}

async function insertClips(
  tx: Transaction,
  clips: readonly { readonly row: EndedRow; readonly clip: StoredClip; readonly index: number }[],
): Promise<void> {
  if (clips.length === 0) return
  const rows = clips.map(({ row, clip, index }) => ({
    job_id: row.id,
    index,
    object_id: clip.objectId,
    workspace_id: row.workspace_id,
    data_key_id: clip.dataKeyId,
    size_bytes: clip.sizeBytes,
    sha256: clip.sha256,
  }))
  await tx`INSERT INTO video_clips ${tx(rows)}`
}

function deliveryOf(row: EndedRow, origin: string | null): readonly NewDelivery[] {
  if (row.callback_url === null || origin === null) return []
  const body = webhookBody(endedVideoOf(row), origin)
  return [
    {
      workspaceId: row.workspace_id,
      jobId: row.id,
      idempotencyKey: `${row.id}-${row.state}`,
      url: row.callback_url,
      body,
    },
  ]
}
