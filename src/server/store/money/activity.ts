import { ok, type Outcome } from '../../../schemas/failures.ts'
import { ACTIVITY_DAYS_DEFAULT, ACTIVITY_DAYS_MAX } from '../../../schemas/money/money-limits.ts'
import type {
  Activity,
  ActivityPage,
  ActivityPeriod,
  ActivityRow,
  ActivitySums,
  ActivityInput,
} from '../../ports/money/activity.ts'
import type { Day } from '../../ports/money/money.ts'
import type { Queryable, Sql, Store } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { findWorkspace } from '../base/find-workspace.ts'

export function openActivity(store: Store): Activity {
  return { list: (input) => reach(() => list(store.sql, input)) }
}

/** Columns by which sums may be grouped. */
export const ACTIVITY_GROUPS = ['day', 'key', 'workspace', 'model'] as const
export type ActivityGroup = (typeof ACTIVITY_GROUPS)[number]

export interface SumInput extends ActivityPeriod {
  readonly organizationId: string
  /** Id of the workspace; left out: all. */
  readonly workspaceId?: string
  readonly by: ActivityGroup
}

/** Name of the group: a day, a key's hash, a workspace's id or a model. */
export interface ActivitySum extends ActivitySums {
  readonly id: string
  /** Name of a key or a workspace, even if it is deleted; the id for a group without a name. */
  readonly name: string
}

export interface ActivityReport {
  readonly groups: readonly ActivitySum[]
  readonly total: ActivitySums
  readonly from: Day
  readonly to: Day
}

/** Sums by group: days newest first, other groups most expensive first. Failure: store_unavailable. */
export function sumActivity({ sql }: Store, input: SumInput): Promise<Outcome<ActivityReport>> {
  return reach(async () => {
    const period = await periodOf(sql, input)
    const { column, order } = GROUPS[input.by]
    const rows = await sql<(SumColumns & { id: string | null; name: string })[]>`
      WITH sums AS (
        SELECT ${sql(column)}::text AS id, grouping(${sql(column)}) = 1 AS is_total, ${sumsOf(sql)}
        FROM activity WHERE ${chosen(sql, input, period)} GROUP BY GROUPING SETS ((${sql(column)}), ()))
      SELECT sums.*, COALESCE(${nameOf(sql, input.by)}, sums.id, '') AS name FROM sums
      ORDER BY is_total, ${order === 'newest' ? sql`id DESC` : sql`spent_nano + byok_nano + forfeited_nano DESC, id`}`
    const total = rows.pop()
    if (total === undefined) throw new Error('expected one row from SUM')
    return ok({
      groups: rows.map((row) => ({ id: row.id ?? '', name: row.name, ...sumsIn(row) })),
      total: sumsIn(total),
      ...period,
    })
  })
}

async function list(sql: Sql, input: ActivityInput): Promise<Outcome<ActivityPage>> {
  const place =
    input.workspace === undefined ? null : await findWorkspace(sql, input.workspace, input.organizationId)
  if (place?.ok === false) return place
  const period = await periodOf(sql, input)
  const where = chosen(sql, { ...input, ...(place !== null && { workspaceId: place.value.id }) }, period)
  const [counted] = await sql<{ count: number }[]>`SELECT count(*)::int AS count FROM activity WHERE ${where}`
  const rows = await sql<Row[]>`
    SELECT *, day::text AS day FROM activity WHERE ${where}
    ORDER BY activity.day DESC, workspace_id, key_hash, model LIMIT ${input.limit} OFFSET ${input.offset}`
  return ok({ rows: rows.map(rowOf), count: counted?.count ?? 0, ...period })
}

const GROUPS = {
  day: { column: 'day', order: 'newest' },
  key: { column: 'key_hash', order: 'dearest' },
  workspace: { column: 'workspace_id', order: 'dearest' },
  model: { column: 'model', order: 'dearest' },
} as const satisfies Record<ActivityGroup, unknown>

/** The days of a report, by the calendar of the windows. */
async function periodOf(sql: Queryable, { from, to }: ActivityPeriod): Promise<Required<ActivityPeriod>> {
  const [row] = await sql<{ today: Day }[]>`SELECT utc_today()::text AS today`
  const today = row?.today ?? ''
  if (to !== undefined) return { from: from ?? daysFrom(to, 1 - ACTIVITY_DAYS_DEFAULT), to }
  if (from === undefined) return { from: daysFrom(today, 1 - ACTIVITY_DAYS_DEFAULT), to: today }
  const last = daysFrom(from, ACTIVITY_DAYS_MAX - 1)
  return { from, to: today < last ? today : last }
}

function daysFrom(day: Day, count: number): Day {
  const date = new Date(`${day}T00:00:00Z`)
  date.setUTCDate(date.getUTCDate() + count)
  return date.toISOString().slice(0, 10)
}

interface Chosen {
  readonly organizationId: string
  readonly workspaceId?: string
  readonly keyHash?: string
  readonly model?: string
}

function chosen(
  sql: Sql,
  { organizationId, workspaceId, keyHash, model }: Chosen,
  { from, to }: Required<ActivityPeriod>,
): ReturnType<Sql> {
  return sql`organization_id = ${organizationId} AND activity.day BETWEEN ${from}::date AND ${to}::date
    ${workspaceId === undefined ? sql`` : sql`AND workspace_id = ${workspaceId}`}
    ${keyHash === undefined ? sql`` : sql`AND key_hash = ${keyHash}`}
    ${model === undefined ? sql`` : sql`AND model = ${model}`}`
}

function nameOf(sql: Sql, by: ActivityGroup): ReturnType<Sql> {
  if (by === 'key') return sql`(SELECT name FROM api_keys WHERE hash = sums.id)`
  if (by === 'workspace') return sql`(SELECT slug FROM workspaces WHERE id::text = sums.id)`
  return sql`NULL`
}

function sumsOf(sql: Sql): ReturnType<Sql> {
  return sql`COALESCE(sum(requests), 0)::text AS requests, COALESCE(sum(tokens), 0)::text AS tokens,
    COALESCE(sum(output_tokens), 0)::text AS output_tokens, COALESCE(sum(cached_tokens), 0)::text AS cached_tokens,
    COALESCE(sum(milliseconds), 0)::text AS milliseconds, COALESCE(sum(spent_nano), 0) AS spent_nano,
    COALESCE(sum(byok_nano), 0) AS byok_nano, COALESCE(sum(forfeited_nano), 0) AS forfeited_nano`
}

interface SumColumns {
  readonly requests: string
  readonly tokens: string
  readonly output_tokens: string
  readonly cached_tokens: string
  readonly milliseconds: string
  readonly spent_nano: string
  readonly byok_nano: string
  readonly forfeited_nano: string
}

interface Row extends SumColumns {
  readonly day: Day
  readonly workspace_id: string
  readonly key_hash: string
  readonly model: string
}

function rowOf(row: Row): ActivityRow {
  return {
    day: row.day,
    workspaceId: row.workspace_id,
    keyHash: row.key_hash,
    model: row.model,
    ...sumsIn(row),
  }
}

function sumsIn(row: SumColumns): ActivitySums {
  return {
    requests: BigInt(row.requests),
    tokens: BigInt(row.tokens),
    outputTokens: BigInt(row.output_tokens),
    cachedTokens: BigInt(row.cached_tokens),
    milliseconds: BigInt(row.milliseconds),
    spentNano: BigInt(row.spent_nano),
    byokNano: BigInt(row.byok_nano),
    forfeitedNano: BigInt(row.forfeited_nano),
  }
}
