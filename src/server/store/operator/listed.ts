import { ADMIN_LISTED_MAX } from '../../../schemas/operator/admin-limits.ts'
import { ok, type Outcome } from '../../../schemas/failures.ts'
import type { Page, PageInput } from '../../ports/workspaces/workspaces.ts'
import type { Fragment } from '../base/guarded-row.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { workspaceIdOf } from '../base/find-workspace.ts'

/** What an operator's list is looked up by. */
export interface Listing {
  readonly table: 'video_jobs' | 'webhook_deliveries'
  /**
   * Conditions, each of which is one range of an index that goes on with the order: together they are the
   * rows of the first filter.
   */
  readonly arms: readonly Fragment[]
  /** Columns that the other filters look at, and those. */
  readonly rest: readonly { readonly column: string; readonly is: Fragment }[]
  /**
   * What the index goes on with. A range of those of an organization ends with the birth: in the order of ids
   * the planner would read all of the table.
   */
  readonly order: 'born' | 'id'
}

interface ListedPage {
  /** ADMIN_LISTED_MAX at most. */
  readonly count: number
  /** Newest first. */
  readonly ids: readonly string[]
}

/** Looks a list up, and reads its page, as of one moment. */
export function readPage<T>(
  store: Store,
  read: (tx: Transaction) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  return store.sql.begin<Outcome<T>>('ISOLATION LEVEL REPEATABLE READ READ ONLY', read)
}

/** The wish of a list, but for what its filters are. */
export interface ListInput extends PageInput {
  readonly organizationId: string
  readonly workspace?: string
}

export interface ListForm<Row> {
  /** @param workspaceId null = of all */
  readonly listing: (tx: Transaction, workspaceId: string | null) => Listing
  /** In any order. */
  readonly rows: (tx: Transaction, ids: readonly string[]) => Promise<readonly Row[]>
}

/** A page of an operator's list, newest first. Failures: workspace_unknown, store_unavailable. */
export function readList<Row extends { readonly id: string }>(
  store: Store,
  input: ListInput,
  { listing, rows }: ListForm<Row>,
): Promise<Outcome<Page<Row>>> {
  return reach(() =>
    readPage<Page<Row>>(store, async (tx) => {
      const place =
        input.workspace === undefined ? null : await workspaceIdOf(tx, input.organizationId, input.workspace)
      if (place?.ok === false) return place
      const page = await listed(tx, listing(tx, place?.value ?? null), input)
      const found = page.ids.length === 0 ? [] : await rows(tx, page.ids)
      return ok({ rows: inOrder(found, page), totalCount: page.count })
    }),
  )
}

/**
 * Ids of a page. What a list costs is what it reaches, however many rows there are: see `ADMIN_LISTED_MAX`.
 */
async function listed(tx: Transaction, listing: Listing, { limit, offset }: PageInput): Promise<ListedPage> {
  // Where the figures of the table are old the planner would fetch and sort all that a filter finds, be it
  // millions.
  await tx`SET LOCAL enable_sort = off`
  const [row] = await tx<{ count: number; ids: string | null }[]>`
    SELECT count(*)::int AS count, array_to_string((array_agg(id))[${offset + 1}::int:${offset + limit}::int], ',') AS ids FROM (${reached(tx, listing)}) found`
  await tx`SET LOCAL enable_sort = on`
  const { count = 0, ids = null } = row ?? {}
  return { count, ids: ids === null || ids === '' ? [] : ids.split(',') }
}

/** All ids that a list reaches, newest first. */
export function reached(sql: Queryable, { table, arms, rest, order }: Listing): Fragment {
  const columns = sql([
    'id',
    ...(order === 'born' ? ['created_at'] : []),
    ...rest.map(({ column }) => column),
  ])
  const newest = order === 'born' ? sql`created_at DESC, id DESC` : sql`id DESC`
  // Each in its own order, or the planner would not merge them. It reads no more of an arm than it needs.
  const [first, ...others] = arms.map(
    (arm) =>
      sql`(SELECT ${columns} FROM ${sql(table)} WHERE ${arm} ORDER BY ${newest} LIMIT ${ADMIN_LISTED_MAX})`,
  )
  if (first === undefined) throw new Error('a list of nothing')
  const all = others.reduce<Fragment>((some, arm) => sql`${some} UNION ALL ${arm}`, first)
  const is = rest.reduce<Fragment>((some, one) => sql`${some} AND ${one.is}`, sql`true`)
  return sql`
    SELECT id FROM (SELECT * FROM (${all}) every_one ORDER BY ${newest} LIMIT ${ADMIN_LISTED_MAX}) looked WHERE ${is} ORDER BY ${newest}`
}

/**
 * In the order of the list, which no statement keeps: sorting would be its planner's reason to read all of a
 * table in order.
 */
function inOrder<T extends { readonly id: string }>(rows: readonly T[], { ids }: ListedPage): readonly T[] {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}
