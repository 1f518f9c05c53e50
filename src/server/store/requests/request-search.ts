import { ok, type Outcome } from '../../../schemas/failures.ts'
import { REQUESTS_KEYS_NAMED_MAX, REQUESTS_LOOKED_MAX } from '../../../schemas/requests/request-limits.ts'
import { endedBy } from '../../../schemas/values/call-ended.ts'
import type { FailureReason } from '../../../schemas/requests/failure-reason.ts'
import { FLAG } from '../../../schemas/requests/request-record.ts'
import type {
  LoggedAttempt,
  LoggedRequest,
  RequestLog,
  RequestPage,
  RequestPlace,
  RequestQuery,
} from '../../ports/requests/request-log.ts'
import { workspaceIdOf } from '../base/find-workspace.ts'
import { longReadsOf } from '../base/long-reads.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import type { Fragment } from '../base/guarded-row.ts'
import { NOBODY } from './request-days.ts'
import { type Found, type Search, isBehind, newestFirst } from './search-parts.ts'
import { findSegmentCalls } from './segment-search.ts'

/** A search without a match examines REQUESTS_LOOKED_MAX rows: searches count as long reads. */
export function openRequestLog(store: Store): RequestLog {
  const turns = longReadsOf(store)
  return {
    find: (query, signal) =>
      turns.within({ tenant: query.organizationId ?? NOBODY, signal }, () =>
        findRequests(store, query, signal),
      ),
  }
}

/** @param signal checked before each statement Failures: workspace_unknown, store_unavailable, that of the signal. */
export function findRequests(
  { sql }: Store,
  query: RequestQuery,
  signal?: AbortSignal,
): Promise<Outcome<RequestPage>> {
  return reach(() =>
    sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx): Promise<Outcome<RequestPage>> => {
      if (signal !== undefined && hasEnded(signal)) return { ok: false, failure: endedBy(signal) }
      const organizationId = query.organizationId ?? NOBODY
      const { workspace } = query
      const place = workspace === undefined ? null : await workspaceIdOf(tx, organizationId, workspace)
      if (place?.ok === false) return place
      const keys = query.keyName === undefined ? null : await keysNamed(tx, organizationId, query.keyName)
      if (keys?.length === 0) return ok({ rows: [], next: null })
      const [fromUs, toUs] = await usOf(tx, query)
      const search = { query, organizationId, workspaceId: place?.value ?? null, keys, fromUs, toUs }
      // With outdated statistics the planner would fetch and sort all rows that a search may find. Those of one
      // request are few, and their index has no order.
      if (query.requestId === undefined) await tx`SET LOCAL enable_sort = off`
      const rows = await findRows(tx, search)
      if (signal !== undefined && hasEnded(signal)) return { ok: false, failure: endedBy(signal) }
      const calls = await findSegmentCalls(tx, search, signal)
      if (signal !== undefined && hasEnded(signal)) return { ok: false, failure: endedBy(signal) }
      return ok(await withNames(tx, organizationId, pageOf([rows, calls], query.limit)))
    }),
  )
}

/** A function, because the compiler would otherwise assume that the signal does not change. */
function hasEnded({ aborted }: AbortSignal): boolean {
  return aborted
}

/** A page ends where one part of the log was not examined any further. */
function pageOf(found: readonly Found[], limit: number): RequestPage {
  const [end = null] = found.flatMap(({ examinedTo }) => examinedTo ?? []).sort(newestFirst)
  const rows = found
    .flatMap((part) => part.rows)
    .filter((row) => end === null || !isBehind(row, end))
    .sort(newestFirst)
  const page = rows.slice(0, limit)
  return { rows: page, next: rows.length > limit ? (page.at(-1) ?? null) : end }
}

/** Keys of this organization only; deleted keys keep their names. */
async function keysNamed(sql: Queryable, organizationId: string, name: string): Promise<readonly string[]> {
  const rows = await sql<{ hash: string }[]>`
    SELECT hash FROM api_keys WHERE organization_id = ${organizationId} AND starts_with(lower(name), lower(${name}))
    ORDER BY created_at DESC, hash LIMIT ${REQUESTS_KEYS_NAMED_MAX}`
  return rows.map(({ hash }) => hash)
}

async function withNames(sql: Queryable, organizationId: string, page: RequestPage): Promise<RequestPage> {
  const hashes = [...new Set(page.rows.flatMap(({ keyHash }) => keyHash ?? []))]
  if (hashes.length === 0) return page
  const rows = await sql<{ hash: string; name: string }[]>`
    SELECT hash, name FROM api_keys
    WHERE organization_id = ${organizationId} AND hash = ANY(string_to_array(${hashes.join(',')}, ','))`
  const names = new Map(rows.map(({ hash, name }) => [hash, name]))
  return {
    ...page,
    rows: page.rows.map((row) => ({ ...row, keyName: names.get(row.keyHash ?? '') ?? null })),
  }
}

/** The instants of a query in Unix microseconds, as Postgres reads them. */
async function usOf(
  sql: Queryable,
  { from, to }: RequestQuery,
): Promise<readonly [number | null, number | null]> {
  if (from === undefined && to === undefined) return [null, null]
  const us = (text: string | undefined) =>
    sql`(extract(epoch FROM ${text ?? null}::text::timestamptz) * 1000000)::float8`
  const [row] = await sql<{ from: number | null; to: number | null }[]>`
    SELECT ${us(from)} AS from, ${us(to)} AS to`
  return [row?.from ?? null, row?.to ?? null]
}

/** Searches the calls that have a row each. */
async function findRows(tx: Transaction, search: Search): Promise<Found> {
  const { limit } = search.query
  const conditions = conditionsOf(tx, search)
  const found = await tx<Row[]>`
    SELECT ${columns(tx)} FROM (
      SELECT * FROM requests WHERE ${conditions.looked} ORDER BY ${order(tx, 'requests')} LIMIT ${REQUESTS_LOOKED_MAX}) looked
    WHERE ${conditions.rest} ORDER BY ${order(tx, 'looked')} LIMIT ${limit + 1}`
  return {
    rows: found.map(requestOf),
    examinedTo: found.length > limit ? null : await lastLooked(tx, conditions),
  }
}

interface Conditions {
  /** Conditions in the order of one index. */
  readonly looked: Fragment
  /** Conditions on the rows that the index yields. */
  readonly rest: Fragment
  readonly hasRest: boolean
}

/**
 * The place from which a later search continues when this one has examined REQUESTS_LOOKED_MAX rows; null when there
 * are no more rows. The place is built for the last row alone: building it for each skipped row would take longer than
 * the search.
 */
async function lastLooked(sql: Queryable, { looked, hasRest }: Conditions): Promise<RequestPlace | null> {
  if (!hasRest) return null
  const [row] = await sql<PlaceRow[]>`
    SELECT ${placeColumns(sql)} FROM (
      SELECT ended_at, batch, n FROM requests WHERE ${looked}
      ORDER BY ${order(sql, 'requests')} OFFSET ${REQUESTS_LOOKED_MAX - 1} LIMIT 1) last`
  return row === undefined ? null : placeOf(row)
}

function conditionsOf(sql: Queryable, search: Search): Conditions {
  const { query, organizationId } = search
  const { requestId, error, isFailed, from, to, before } = query
  const rest = restOf(sql, search)
  return {
    looked: sql`organization_id = ${organizationId}
      ${requestId === undefined ? sql`` : sql`AND request_id = ${requestId}`}
      ${isFailed === true || error !== undefined ? sql`AND error IS NOT NULL` : sql``}
      ${from === undefined ? sql`` : sql`AND ended_at >= ${from}::text::timestamptz`}
      ${to === undefined ? sql`` : sql`AND ended_at < ${to}::text::timestamptz`}
      ${before === undefined ? sql`` : sql`AND (ended_at, batch, n) < (${instant(sql, before.endedUs)}, ${before.batch}::bigint, ${before.n}::int)`}`,
    rest: rest.reduce<Fragment>((all, input) => sql`${all} AND ${input}`, sql`true`),
    hasRest: rest.length > 0,
  }
}

/** Durations are rounded to float4 like their column, since Postgres refuses numbers that a float4 cannot hold. */
function restOf(sql: Queryable, { query, workspaceId, keys }: Search): readonly Fragment[] {
  const { key, operation, model, modelPrefix, provider, error, isFailed, isLeft, status } = query
  const { minDurationMs, minCostNano } = query
  return [
    error === undefined ? null : sql`error = ${error}`,
    isFailed === false ? sql`error IS NULL` : null,
    isLeft === undefined ? null : sql`((flags & ${FLAG.clientGone}::int) <> 0) = ${isLeft}`,
    workspaceId === null ? null : sql`workspace_id = ${workspaceId}`,
    key === undefined ? null : sql`starts_with(key_hash, ${key})`,
    keys === null ? null : sql`key_hash = ANY(string_to_array(${keys.join(',')}, ','))`,
    operation === undefined ? null : sql`operation = ${operation}`,
    model === undefined ? null : sql`model = ${model}`,
    modelPrefix === undefined
      ? null
      : sql`(starts_with(lower(model), lower(${modelPrefix})) OR starts_with(lower(split_part(model, '/', 2)), lower(${modelPrefix})))`,
    provider === undefined ? null : sql`provider = ${provider}`,
    status === undefined ? null : sql`status BETWEEN ${status[0]}::int AND ${status[1]}::int`,
    minDurationMs === undefined ? null : sql`duration_ms >= ${Math.fround(minDurationMs)}::float4`,
    minCostNano === undefined ? null : sql`cost_nano >= ${minCostNano}::float8`,
  ].filter((input) => input !== null)
}

/** The columns are qualified by the table: a bare `batch` would mean the selected text of that name. */
function order(sql: Queryable, table: 'requests' | 'looked'): Fragment {
  const of = sql(table)
  return sql`${of}.ended_at DESC, ${of}.batch DESC, ${of}.n DESC`
}

/** Exact to the microsecond; a number of milliseconds would not be. */
function instant(sql: Queryable, us: string): Fragment {
  return sql`timestamptz 'epoch' + ${us}::bigint * interval '1 microsecond'`
}

function placeColumns(sql: Queryable): Fragment {
  return sql`(extract(epoch FROM ended_at) * 1000000)::bigint::text AS ended_us, batch::text, n`
}

function columns(sql: Queryable): Fragment {
  return sql`${placeColumns(sql)}, request_id, operation, status, error, limit_kind, workspace_id, key_hash, model, provider, duration_ms,
    auth_ms, limits_ms, validate_ms, hold_ms, upstream_ms, first_ms, input_tokens::float8, output_tokens::float8, cached_tokens::float8,
    cost_nano::float8, request_bytes::float8, reply_bytes::float8, attempts, failed, reason, weight, flags, is_recovered`
}

interface PlaceRow {
  readonly ended_us: string
  readonly batch: string
  readonly n: number
}

interface Row extends PlaceRow {
  readonly request_id: string
  readonly operation: string
  readonly status: number
  readonly error: string | null
  readonly limit_kind: string | null
  readonly workspace_id: string | null
  readonly key_hash: string | null
  readonly model: string | null
  readonly provider: string | null
  readonly duration_ms: number | null
  readonly auth_ms: number | null
  readonly limits_ms: number | null
  readonly validate_ms: number | null
  readonly hold_ms: number | null
  readonly upstream_ms: number | null
  readonly first_ms: number | null
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly cached_tokens: number | null
  readonly cost_nano: number | null
  readonly request_bytes: number | null
  readonly reply_bytes: number | null
  readonly attempts: number | null
  readonly failed: readonly LoggedAttempt[] | null
  readonly reason: FailureReason | null
  readonly weight: number
  readonly flags: number
  readonly is_recovered: boolean
}

function placeOf({ ended_us, batch, n }: PlaceRow): RequestPlace {
  return { endedUs: ended_us, batch, n }
}

function requestOf(row: Row): LoggedRequest {
  return {
    ...placeOf(row),
    requestId: row.request_id,
    operation: row.operation,
    status: row.status,
    error: row.error,
    limit: row.limit_kind,
    workspaceId: row.workspace_id,
    keyHash: row.key_hash,
    keyName: null,
    model: row.model,
    provider: row.provider,
    durationMs: row.duration_ms,
    authMs: row.auth_ms,
    limitsMs: row.limits_ms,
    validateMs: row.validate_ms,
    holdMs: row.hold_ms,
    upstreamMs: row.upstream_ms,
    firstMs: row.first_ms,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cachedTokens: row.cached_tokens,
    costNano: row.cost_nano,
    requestBytes: row.request_bytes,
    replyBytes: row.reply_bytes,
    attempts: row.attempts,
    failed: row.failed ?? [],
    reason: row.reason,
    weight: row.weight,
    flags: row.flags,
    isRecovered: row.is_recovered,
  }
}
