import { REQUESTS_LOOKED_MAX, REQUESTS_PACKED_MS_MAX } from '../../../schemas/requests/request-limits.ts'
import { numberOfRequestId, prefixOfRequestId } from '../../../schemas/requests/request-id.ts'
import type { FailureReason } from '../../../schemas/requests/failure-reason.ts'
import { FLAG, UNKNOWN } from '../../../schemas/requests/request-record.ts'
import type { LoggedAttempt, LoggedRequest, RequestPlace } from '../../ports/requests/request-log.ts'
import type { Fragment } from '../base/guarded-row.ts'
import type { Transaction } from '../base/open.ts'
import { PackedCalls } from './packed-calls.ts'
import { type Found, type Search, isBehind, newestFirst } from './search-parts.ts'

const US_PER_MS = 1_000
/** Segments that one read fetches, which are searched without a pause: some milliseconds. Decision. */
const FETCHED = 4

interface SegmentRow {
  /** Unix microseconds of the last end. */
  readonly ended_us: string
  readonly batch: string
  readonly packed: Uint8Array
}

/** Searches the calls that were written as segments, latest end first. */
export async function findSegmentCalls(
  tx: Transaction,
  search: Search,
  signal: AbortSignal | undefined,
): Promise<Found> {
  const { requestId, limit, before } = search.query
  if (requestId !== undefined && numberOfRequestId(requestId) === null) return { rows: [], examinedTo: null }
  const beforeUs = before === undefined ? Infinity : Number(before.endedUs)
  let found: LoggedRequest[] = []
  let looked = 0
  let lastUs = ''
  for await (const segments of segmentsOf(tx, search).cursor(FETCHED)) {
    for (const { ended_us: endedUs, batch, packed } of segments) {
      // No following segment has a call that ended after this segment's last call.
      if (found.length > limit && isAfter(found[limit], endedUs)) return { rows: found, examinedTo: null }
      if (looked >= REQUESTS_LOOKED_MAX && endedUs !== lastUs)
        return { rows: found, examinedTo: { endedUs: String(Number(endedUs) + 1), batch: '0', n: 0 } }
      const calls = new PackedCalls(packed)
      // A segment examined for an earlier page may have calls of this page; it counts once.
      if (Number(endedUs) <= beforeUs) {
        looked += calls.calls
        lastUs = endedUs
      }
      const matches = matchesOf(calls, batch, search)
      if (matches.length === 0) continue
      found = [...found, ...matches].sort(newestFirst).slice(0, limit + 1)
    }
    if (signal?.aborted === true) break
  }
  return { rows: found, examinedTo: null }
}

function isAfter(row: LoggedRequest | undefined, endedUs: string): boolean {
  return row !== undefined && Number(row.endedUs) > Number(endedUs)
}

function segmentsOf(sql: Transaction, { query, organizationId, fromUs, toUs }: Search) {
  const { requestId, error, isFailed, before } = query
  const upToUs = Math.min(toUs ?? Infinity, before === undefined ? Infinity : Number(before.endedUs))
  const own = requestId === undefined ? null : numberOfRequestId(requestId)
  return sql<SegmentRow[]>`
    SELECT (extract(epoch FROM ended_at) * 1000000)::bigint::text AS ended_us, batch::text AS batch, packed FROM request_segments
    WHERE organization_id = ${organizationId}
      ${requestId === undefined || own === null ? sql`` : sql`AND id_prefix = ${prefixOfRequestId(requestId)} AND id_first <= ${own} AND id_last >= ${own}`}
      ${isFailed === true || error !== undefined ? sql`AND failures > 0` : sql``}
      ${fromUs === null ? sql`` : sql`AND ended_at >= ${instant(sql, fromUs)}`}
      ${
        upToUs === Infinity
          ? sql``
          : sql`AND first_at <= ${instant(sql, upToUs)} AND ended_at <= ${instant(sql, upToUs + REQUESTS_PACKED_MS_MAX * US_PER_MS)}`
      }
    ORDER BY request_segments.ended_at DESC, request_segments.batch DESC, part DESC`
}

function instant(sql: Transaction, us: number): Fragment {
  return sql`timestamptz 'epoch' + ${String(us)}::bigint * interval '1 microsecond'`
}

/** Calls of a segment that fit, at most one more than a page has, newest first. */
function matchesOf(calls: PackedCalls, batch: string, search: Search): readonly LoggedRequest[] {
  const { query, fromUs, toUs } = search
  const tests = testsOf(calls, search)
  if (tests === null) return []
  const ended = calls.figures('endedMs')
  const matches: Match[] = []
  for (let nth = 0; nth < calls.calls; nth++) {
    const endedUs = (ended[nth] ?? 0) * US_PER_MS
    if ((fromUs !== null && endedUs < fromUs) || (toUs !== null && endedUs >= toUs)) continue
    if (!tests.every((test) => test(nth))) continue
    const match = { endedUs: String(endedUs), batch, n: calls.numberAt(nth), nth }
    if (query.before === undefined || isBehind(match, query.before)) matches.push(match)
  }
  return matches
    .sort(newestFirst)
    .slice(0, query.limit + 1)
    .map((match) => requestAt(calls, match))
}

interface Match extends RequestPlace {
  readonly nth: number
}

type Test = (nth: number) => boolean

/** Conditions on a call of a segment; null: no call of it can fit. */
function testsOf(calls: PackedCalls, search: Search): readonly Test[] | null {
  const { requestId, isFailed, isLeft, status, minDurationMs, minCostNano } = search.query
  const tests: Test[] = []
  for (const [figure, isIt] of textsOf(search)) {
    const numbers = calls.numbersOf(isIt)
    if (numbers.size === 0) return null
    const column = calls.figures(figure)
    tests.push((nth) => numbers.has(column[nth] ?? 0))
  }
  if (requestId !== undefined) tests.push((nth) => calls.requestIdAt(nth) === requestId)
  if (isFailed !== undefined) {
    const column = calls.figures('error')
    tests.push((nth) => (column[nth] !== 0) === isFailed)
  }
  if (isLeft !== undefined) {
    const column = calls.figures('flags')
    tests.push((nth) => (((column[nth] ?? 0) & FLAG.clientGone) !== 0) === isLeft)
  }
  if (status !== undefined) {
    const column = calls.figures('status')
    tests.push((nth) => (column[nth] ?? 0) >= status[0] && (column[nth] ?? 0) <= status[1])
  }
  if (minDurationMs !== undefined)
    tests.push((nth) => (calls.figureAt(nth, 'durationMs') ?? UNKNOWN) >= minDurationMs)
  if (minCostNano !== undefined) {
    const column = calls.figures('costNano')
    tests.push((nth) => (column[nth] ?? UNKNOWN) >= minCostNano)
  }
  return tests
}

type TextFigure = 'workspace' | 'operation' | 'model' | 'provider' | 'error' | 'key'

/** Conditions on the texts of a call. */
function textsOf({ query, workspaceId, keys }: Search): readonly (readonly [TextFigure, IsText])[] {
  const { key, modelPrefix, operation, model, provider, error } = query
  const found: (readonly [TextFigure, IsText])[] = []
  const whole = { workspace: workspaceId, operation, model, provider, error }
  for (const [figure, text] of Object.entries(whole) as [TextFigure, string | null | undefined][])
    if (text !== undefined && text !== null) found.push([figure, (known) => known === text])
  if (key !== undefined) found.push(['key', (known) => known.startsWith(key)])
  if (keys !== null) {
    const named = new Set(keys)
    found.push(['key', (known) => named.has(known)])
  }
  if (modelPrefix !== undefined) found.push(['model', (known) => hasPrefix(known, modelPrefix)])
  return found
}

type IsText = (known: string) => boolean

/** Matches as the search of rows does: by the id of a model, or by the part after its author. */
function hasPrefix(model: string, prefix: string): boolean {
  const [id, begin] = [model.toLowerCase(), prefix.toLowerCase()]
  return id.startsWith(begin) || (id.split('/')[1] ?? '').startsWith(begin)
}

function requestAt(calls: PackedCalls, { endedUs, batch, n, nth }: Match): LoggedRequest {
  const failed = calls.failedAt(nth)
  const reason = calls.reasonAt(nth)
  return {
    endedUs,
    batch,
    n,
    requestId: calls.requestIdAt(nth),
    operation: calls.textAt(nth, 'operation') ?? '',
    status: calls.figureAt(nth, 'status') ?? 0,
    error: calls.textAt(nth, 'error'),
    limit: calls.textAt(nth, 'limit'),
    workspaceId: calls.textAt(nth, 'workspace'),
    keyHash: calls.textAt(nth, 'key'),
    keyName: null,
    model: calls.textAt(nth, 'model'),
    provider: calls.textAt(nth, 'provider'),
    durationMs: calls.figureAt(nth, 'durationMs'),
    authMs: calls.figureAt(nth, 'authMs'),
    limitsMs: calls.figureAt(nth, 'limitsMs'),
    validateMs: calls.figureAt(nth, 'validateMs'),
    holdMs: calls.figureAt(nth, 'holdMs'),
    upstreamMs: calls.figureAt(nth, 'upstreamMs'),
    firstMs: calls.figureAt(nth, 'firstMs'),
    inputTokens: calls.figureAt(nth, 'inputTokens'),
    outputTokens: calls.figureAt(nth, 'outputTokens'),
    cachedTokens: calls.figureAt(nth, 'cachedTokens'),
    costNano: calls.figureAt(nth, 'costNano'),
    requestBytes: calls.figureAt(nth, 'requestBytes'),
    replyBytes: calls.figureAt(nth, 'replyBytes'),
    attempts: calls.figureAt(nth, 'attempts'),
    failed: failed === null ? [] : (JSON.parse(failed) as readonly LoggedAttempt[]),
    reason: reason === null ? null : (JSON.parse(reason) as FailureReason),
    weight: calls.figureAt(nth, 'weight') ?? 1,
    flags: calls.figureAt(nth, 'flags') ?? 0,
    isRecovered: false,
  }
}
