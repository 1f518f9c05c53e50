import { ok, type Outcome } from '../../../schemas/failures.ts'
import { REQUESTS_KEYS_NAMED_MAX } from '../../../schemas/requests/request-limits.ts'
import { endedBy } from '../../../schemas/values/call-ended.ts'
import type { RequestLog, RequestPage, RequestQuery } from '../../ports/requests/request-log.ts'
import { workspaceIdOf } from '../base/find-workspace.ts'
import { longReadsOf } from '../base/long-reads.ts'
import type { Queryable, Store } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { NOBODY } from './request-days.ts'
import { isBehind, newestFirst } from './request-places.ts'
import { findRows } from './row-search.ts'
import type { Found } from './search-parts.ts'
import { findSegmentCalls } from './segment-search.ts'

/** A search without a match examines REQUESTS_LOOKED_MAX rows: searches take the turns of long reads. */
export function openRequestLog(store: Store): RequestLog {
  const turns = longReadsOf(store)
  return {
    find: (query, signal) =>
      turns.within({ tenant: query.organizationId ?? NOBODY, signal }, () =>
        findRequests(store, query, signal),
      ),
  }
}

/**
 * @param signal looked at before each statement
 * Failures: workspace_unknown, store_unavailable, that of the signal.
 */
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

/** Read anew each time: the compiler takes it that the signal stays as it was. */
function hasEnded({ aborted }: AbortSignal): boolean {
  return aborted
}

/** A page ends where a part of the log was not examined any more. */
function pageOf(found: readonly Found[], limit: number): RequestPage {
  const [end = null] = found.flatMap(({ examinedTo }) => examinedTo ?? []).sort(newestFirst)
  const rows = found
    .flatMap((part) => part.rows)
    .filter((row) => end === null || !isBehind(row, end))
    .sort(newestFirst)
  const page = rows.slice(0, limit)
  return { rows: page, next: rows.length > limit ? (page.at(-1) ?? null) : end }
}

/** Keys of the organization alone; deleted ones keep their names. */
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
