import { randomUUID } from 'node:crypto'
import type { Day } from '../../ports/money/money.ts'
import { plain } from '../money/lending/books.ts'
import type { Queryable } from '../base/open.ts'
import { acceptedView } from './views.ts'
import type { VideoAttached, VideoInput } from '../../ports/videos/videos.ts'
import { newId, newVideoId } from '../base/ids.ts'

export interface NewJob extends Accepting {
  /** Null: today's date (UTC). */
  readonly day: Day | null
}

/** New jobs as a relation, for the INSERT of `insertOf`, with the answers to be kept. */
export function recordsOf(sql: Queryable, jobs: readonly NewJob[]) {
  // JSON texts contain no line breaks, so the large ones are joined by line breaks instead of being written
  // as JSON a second time.
  return sql`
    SELECT x.*, r.request, nullif(r.attached, '') AS attached
    FROM json_to_recordset(${JSON.stringify(jobs.map(recordOf))}::text::json) AS x(nth int, id text, organization_id uuid, workspace_id uuid,
      key_hash text, key_account_id text, request_id text, session_id text, model text, provider text, endpoint text, upstream_model text,
      own_secret text, submit_token uuid, seconds int, cost_nano bigint, is_unpriced boolean, hold_id uuid, hold_day date, callback_url text,
      request_chars int, turn_id text, attempt int, body_sha256 text, answer text)
    JOIN unnest(${lines(
      sql,
      jobs.map(({ request }) => request),
    )}, ${lines(
      sql,
      jobs.map(({ attached }) => attached),
    )})
      WITH ORDINALITY AS r(request, attached, nth) ON r.nth = x.nth`
}

/** An array of texts without line breaks. */
function lines(sql: Queryable, texts: readonly string[]) {
  return sql`string_to_array(${texts.join('\n')}, chr(10))`
}

/** The first part of an INSERT from records `x`, which have the `default_callback_url` of their workspaces. */
export function insertOf(sql: Queryable, jobMs: number) {
  return sql`
    INSERT INTO video_jobs (id, organization_id, workspace_id, key_hash, key_account_id, request_id, session_id, model, provider, endpoint,
      upstream_model, own_secret, request, attached, request_chars, submit_token, seconds, cost_nano, is_unpriced, hold_id, hold_day,
      callback_url, turn_id, body_sha256, expires_at)
    SELECT x.id, x.organization_id, x.workspace_id, x.key_hash, x.key_account_id, x.request_id, x.session_id, x.model, x.provider, x.endpoint,
      x.upstream_model, x.own_secret, x.request, x.attached, x.request_chars, x.submit_token,
      x.seconds, x.cost_nano, x.is_unpriced, x.hold_id,
      COALESCE(x.hold_day, utc_today()), COALESCE(x.callback_url, x.default_callback_url), x.turn_id, x.body_sha256,
      clock_timestamp() + ${jobMs}::float8 * interval '1 ms'`
}

/** Columns of a record, without the request. */
function recordOf(job: NewJob, index: number) {
  const { id, holdId, day, input } = job
  const { key, target, once, callbackUrl, sessionId } = input
  return {
    nth: index + 1,
    id,
    organization_id: key.organizationId,
    workspace_id: input.workspaceId,
    key_hash: key.hash,
    key_account_id: key.money.accountId,
    request_id: plain(input.requestId),
    session_id: sessionId === null ? null : plain(sessionId),
    model: plain(target.model),
    provider: target.provider,
    endpoint: plain(target.endpoint),
    upstream_model: plain(target.upstreamModel),
    own_secret: target.ownSecret,
    submit_token: randomUUID(),
    seconds: input.request.seconds,
    cost_nano: String(input.costNano),
    is_unpriced: input.isUnpriced,
    hold_id: holdId,
    hold_day: day,
    callback_url: callbackUrl === null ? null : plain(callbackUrl),
    request_chars: lengthOf(job),
    turn_id: once?.claim.id ?? null,
    attempt: once?.claim.attempt ?? null,
    body_sha256: once?.bodySha256 ?? null,
    answer: once?.answer(acceptedView(id, input.workspaceId)) ?? null,
  }
}

/** A job that is to be accepted. Its ids stay the same for every try, so that the job is never made twice. */
export interface Accepting {
  readonly input: VideoInput
  readonly id: string
  readonly holdId: string
  /** JSON of the request, without its attached parts. */
  readonly request: string
  /** JSON of the attached parts; an empty string when there are none. */
  readonly attached: string
}

export function acceptingOf(input: VideoInput): Accepting {
  const { frames, references, passthrough, ...request } = input.request
  const hasAttached = frames.length + references.length + Object.keys(passthrough).length > 0
  const attached = hasAttached
    ? JSON.stringify({ frames, references, passthrough } satisfies VideoAttached)
    : ''
  return { input, id: newVideoId(), holdId: newId(), request: JSON.stringify(request), attached }
}

/** Characters of the request. */
export function lengthOf({ request, attached }: Accepting): number {
  return request.length + attached.length
}
